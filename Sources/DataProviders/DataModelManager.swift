public import Consistency

/// The one object that the providers of a service share: what keeps them consistent, and where their
/// data lives.
public final class DataModelManager: Sendable {
  /// Keeps all live trees consistent.
  public let consistencyManager: ConsistencyManager

  /// Makes a manager whose data lives in memory only.
  ///
  /// - Parameter target: Where delegates are called.
  public init(deliveringOn target: DeliveryTarget = .ownQueue) {
    consistencyManager = ConsistencyManager(deliveringOn: target)
  }
}
