@_exported public import PandoConsistency
@_exported public import PandoManagers
@_exported public import PandoModels
@_exported public import PandoProviders
@_exported public import PandoRecords
@_exported public import PandoStore
