public import PandoModels

/// A committed change of one model, as an asynchronous sequence tells it.
///
/// ```swift
/// for try await step in provider.changes {
///   print(step.data as Any, "because of", step.context as Any)
/// }
/// ```
public struct ProviderChange<T: SimpleModel>: Sendable {
  /// The model after the change; `nil` if there is none.
  public let data: T?
  /// What the writer passed along; `nil` in the first element of an iteration, and of several changes
  /// the last one's.
  public let context: (any Sendable)?
}
