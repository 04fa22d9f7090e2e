public import PandoModels

/// A committed change of one model, as an element of an asynchronous sequence.
///
/// ```swift
/// for try await step in provider.changes {
///   print(step.data as Any, "because of", step.context as Any)
/// }
/// ```
/// Use `values` instead of `changes` if the context is not needed.
public struct ProviderChange<T: SimpleModel>: Sendable {
  /// The model after the change; `nil` if there is none.
  public let data: T?
  /// The context that the writer passed; that of the newest commit if there were several.
  ///
  /// `nil` in the first element of an iteration.
  public let context: (any Sendable)?
}
