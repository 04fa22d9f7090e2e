public import Dispatch

/// The queue or executor on which delegates and listeners are called.
///
/// ```swift
/// let views = ConsistencyManager(deliveringOn: .main)
/// let others = ConsistencyManager(deliveringOn: .queue(DispatchQueue(label: "listeners")))
/// ```
///
/// Calls are made one after another on each kind of target.
public struct DeliveryTarget: Sendable {
  enum Kind: Sendable {
    case queue(DispatchQueue)
    case executor(any TaskExecutor)
  }

  let kind: Kind
  /// True if no other code can use the queue.
  var isOwn = false

  /// A serial queue of the manager's own; the default.
  ///
  /// Use it in services whose main thread may not run a main queue.
  public static var ownQueue: DeliveryTarget {
    DeliveryTarget(kind: .queue(DispatchQueue(label: "pando.delivery")), isOwn: true)
  }

  /// The main queue.
  ///
  /// Do not use it in a service whose main thread runs no main queue.
  public static var main: DeliveryTarget { .queue(.main) }

  /// A given queue.
  ///
  /// - Parameter queue: Serial or concurrent; calls are made one after another.
  /// - Returns: The target.
  public static func queue(_ queue: DispatchQueue) -> DeliveryTarget {
    DeliveryTarget(kind: .queue(queue))
  }

  /// A task executor.
  ///
  /// - Parameter executor: Runs the calls, one task at a time.
  /// - Returns: The target.
  public static func executor(_ executor: any TaskExecutor) -> DeliveryTarget {
    DeliveryTarget(kind: .executor(executor))
  }
}
