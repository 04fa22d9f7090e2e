// Queries are types of the store, and the interface of the managers names them.
@_exported public import PandoStore
