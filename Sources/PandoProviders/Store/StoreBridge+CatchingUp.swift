import PandoConsistency
import Dispatch
import PandoSystem
import PandoModels
import PandoStore

/// A store that is open for reading only: what others commit is read on the pipeline.
extension StoreBridge {
  /// Takes in what has been committed.
  ///
  /// On the pipeline.
  ///
  /// - Parameters:
  ///   - load: Something to read at the same commit, and to show.
  ///   - scope: Works out what has changed.
  /// - Returns: Why it could not be read.
  @discardableResult
  func catchUp(_ load: (any StoreLoad)?, _ scope: PipelineScope) -> (any Error)? {
    do {
      let write = try store.read { snapshot in
        let known = writes.withLock { $0.processed }
        let reading = CommitReading(bridge: self, own: nil, changeSet: nil, known: known)
        let write = reading.read(snapshot)
        try load?.read(snapshot)
        return write
      }
      scope.apply(write.update)
      writes.withLock { $0.advance(to: write.number) }
      load?.finish(nil, scope)
      return nil
    } catch {
      load?.finish(error, scope)
      return error
    }
  }

  /// Takes in what other processes have committed.
  ///
  /// - Returns: What is finished when the live trees show it.
  func refresh() -> PendingWrite {
    let marker = MarkerOperation()
    if store.isReadOnly {
      consistency.enqueue { [self] scope in
        let error = catchUp(nil, scope)
        marker.outcome.finish(error.map { .failure($0) } ?? .success(nil))
      }
    } else {
      perform(marker, writes: false)
    }
    return marker.outcome
  }

  /// Waits until the loads and writes that are queued are done.
  func drain() async {
    await withCheckedContinuation { continuation in
      loader.async(flags: .barrier) { continuation.resume() }
    }
    await consistency.processed()  // where loads find that they have to be read again
    _ = try? await refresh().committed()
  }
}
