public import Dispatch

/// Where delegates and listeners are called.
///
/// ```swift
/// let views = ConsistencyManager(deliveringOn: .main)
/// let others = ConsistencyManager(deliveringOn: .queue(DispatchQueue(label: "listeners")))
/// ```
///
/// Calls come one after another in any case.
public struct DeliveryTarget: Sendable {
  enum Kind: Sendable {
    case queue(DispatchQueue)
    case executor(any TaskExecutor)
  }

  let kind: Kind
  /// Whether nobody else can use the queue.
  var isOwn = false

  /// A serial queue of the manager's own: the default, for services whose main thread may not run a
  /// main queue.
  public static var ownQueue: DeliveryTarget {
    DeliveryTarget(kind: .queue(DispatchQueue(label: "pando.delivery")), isOwn: true)
  }

  /// The main queue.
  public static var main: DeliveryTarget { .queue(.main) }

  /// A queue.
  ///
  /// - Parameter queue: Serial or concurrent; calls come one after another.
  /// - Returns: The target.
  public static func queue(_ queue: DispatchQueue) -> DeliveryTarget {
    DeliveryTarget(kind: .queue(queue))
  }

  /// A task executor.
  ///
  /// - Parameter executor: Runs one task at a time for the calls.
  /// - Returns: The target.
  public static func executor(_ executor: any TaskExecutor) -> DeliveryTarget {
    DeliveryTarget(kind: .executor(executor))
  }
}
