public import PandoModels

/// A committed change of a list, as an asynchronous sequence tells it.
///
/// ```swift
/// for try await step in contacts.changes {
///   print(step.data.count, step.change, step.context as Any)
/// }
/// ```
public struct CollectionProviderChange<T: SimpleModel>: Sendable {
  /// The list after the change.
  public let data: [T]
  /// What happened to the list that the observer got before.
  ///
  /// In the first element of an iteration that is `reset`. Several changes that an
  /// observer was too slow for are told as one, which leads exactly from its list to this one.
  public let change: CollectionChange
  /// What the writer passed along; `nil` in the first element of an iteration, and of several changes
  /// the last one's.
  public let context: (any Sendable)?
}
