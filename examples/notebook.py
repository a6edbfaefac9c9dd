# %% [markdown]
# # A graph, a question, answers
#
# Triples go in, an engine comes out. It answers what the graph states, and what it probably lacks.
# This notebook is made from `notebook.py` by `scripts/make_notebook.py`; the tests run it.

# %%
import pathformer as pf

kg = pf.KnowledgeGraph.read("films.tsv")
kg

# %% [markdown]
# Fitting holds a part of the graph out, trains on the rest, and learns from the held-out part how far its own scores
# can be trusted. Half a minute is enough for 347 triples.

# %%
engine = pf.fit(kg, minutes=0.5, progress=False)
engine

# %% [markdown]
# Who starred in Fellini's films that did not win an Oscar? Known answers come first: the graph proves them.
# Predicted ones follow, with a probability and the edges that they assume.

# %%
answers = engine.ask("?who : directed(Fellini, ?film) & !won(?film, Oscar) & stars(?film, ?who)", top=5)
answers

# %% [markdown]
# The same as a table; pandas and polars both work.

# %%
answers.to_pandas()[["rank", "label", "status", "probability"]]

# %% [markdown]
# A reason is data too: what each variable stands for, which edges exist, which are assumed.

# %%
best = answers.predicted[0]
print(best.label, best.probability)
for link in best.reason.links:
    print("stated " if link.stated else "assumed", link)

# %% [markdown]
# Keep as many predictions as can be taken so that four of five are expected to be right.

# %%
answers.at_precision(0.8)

# %% [markdown]
# Save it, open it again, ask many questions at once.

# %%
engine.save("films-engine", force=True)
again = pf.load("films-engine")
for found in again.ask(["?f : directed(Leone, ?f)", "?who : composed(?who, Amarcord)"], top=2):
    print(found)
    for answer in found:
        print("  ", answer.label, "known" if answer.known else f"{answer.probability:.0%}")
