@_exported public import PandoManagers
@_exported public import PandoRemote
