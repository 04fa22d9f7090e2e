import PandoSystem
package import PandoModels

extension ModelStore {
  /// Tells an observer of every write from now on; it is not retained.
  package func addObserver(_ observer: any CommitObserver) { writer?.addObserver(observer) }

  /// Queues a write and returns at once: its place in the order of commits is fixed by then.
  ///
  /// - Parameters:
  ///   - ticket: Given to the observers.
  ///   - context: Travels with the change set.
  ///   - body: Runs on the writer thread, perhaps more than once.
  ///   - completion: Called once, on the writer thread after the observers; on the calling thread
  ///     when the store is closed or read-only.
  package func submit(
    ticket: any Sendable, context: (any Sendable)?,
    _ body: @escaping @Sendable (inout ModelTransaction) throws -> Void,
    completion: @escaping @Sendable (Result<ChangeSet?, any Error>) -> Void = { _ in }
  ) {
    guard let writer else {
      return completion(
        .failure(StoreError(.readOnly, path, "the store was opened for reading only")))
    }
    writer.submit(
      WriteJob(ticket: ticket, context: context, body: body, completion: completion))
  }

  /// Whether the store was opened for reading only.
  package var isReadOnly: Bool { writer == nil }
}
