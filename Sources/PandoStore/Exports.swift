@_exported public import PandoModels
@_exported public import PandoRecords

// A program that imports the store alone needs the models, and the engine's types in its interface.
@_exported public import enum PandoLMDB.Durability
@_exported public import struct PandoLMDB.LMDBError
