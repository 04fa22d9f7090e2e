@_exported public import PandoModels

// Whoever imports the store alone has models, and what of the key-value engine shows in its interface.
@_exported public import enum PandoLMDB.Durability
@_exported public import struct PandoLMDB.LMDBError
