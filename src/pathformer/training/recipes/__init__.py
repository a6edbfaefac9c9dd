"""HOW TO TRAIN WELL IN LITTLE TIME: one file a recipe, settings of a model and of its training that go together."""
