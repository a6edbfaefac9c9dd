"""HOW GOOD THE ANSWERS ARE: filtered ranks, MRR and Hits@k a structure, and the report of them."""
