@_exported public import PandoManagers
