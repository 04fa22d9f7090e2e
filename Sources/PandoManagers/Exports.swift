// Queries are types of the store, and sequences of states are those of the providers; the interface of the managers
// names both.
@_exported public import PandoProviders
@_exported public import PandoStore
