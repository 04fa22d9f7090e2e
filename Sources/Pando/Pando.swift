@_exported public import Consistency
@_exported public import CoreManagers
@_exported public import DataProviders
@_exported public import LMDB
@_exported public import ModelCore
@_exported public import StoreEngine
