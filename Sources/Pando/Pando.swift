@_exported public import LMDB
@_exported public import ModelCore
@_exported public import StoreEngine
