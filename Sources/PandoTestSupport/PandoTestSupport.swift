@_exported public import CoreManagers
