import PandoModels

/// Whom the pipeline tells of what it does and finds.
protocol PipelineReporter: AnyObject, Sendable {
  /// Whether anybody hears of replacements.
  var hasDelegate: Bool { get }

  func report(_ mistakes: [ConsistencyError])

  func report(_ replacements: [Replacement], context: (any Sendable)?)

  /// Finds those who listen to every update now.
  ///
  /// - Returns: Tells them of one, on the delivery target; `nil` if there are none.
  func updatesTelling() -> (@Sendable (LiveUpdate) -> Void)?
}
