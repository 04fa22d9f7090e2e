import PandoModels

/// The receiver of a pipeline's replacements and mistakes.
protocol PipelineReporter: AnyObject, Sendable {
  /// True if a delegate receives replacements.
  var hasDelegate: Bool { get }

  func report(_ mistakes: [ConsistencyError])

  func report(_ replacements: [Replacement], context: (any Sendable)?)

  /// Returns a closure that calls the current listeners of all updates.
  ///
  /// - Returns: The closure, for the delivery target; `nil` if there are no listeners.
  func updatesTelling() -> (@Sendable (LiveUpdate) -> Void)?
}
