import PandoConsistency
import FoundationEssentials
import PandoSystem

extension CollectionDataProvider: AnyDataProvider, BatchMember {
  func join(_ batch: BatchCore) -> Bool {
    state.withLock { state in
      guard state?.batch == nil else { return false }
      state?.batch = batch
      return true
    }
  }

  func pauseForBatch() { pause(.batch) }

  func resumeForBatch() -> (@Sendable (PipelineScope) -> ResumedMember?)? {
    guard resume(.batch) else { return nil }
    let collection = seat.collection
    return { _ in
      var update = LiveUpdate()
      update.date = .distantPast
      // What is different is queued already.
      return ResumedMember(change: StagedList(collection, update), update: update)
    }
  }
}
