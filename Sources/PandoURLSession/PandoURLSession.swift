@_exported public import PandoRemote
