"""WHAT THE LINKS SAY TOGETHER: the best assignment of every variable of a query, over the table of links."""
