import FoundationEssentials
import PandoConsistency
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

  func resumeForBatch() -> (@Sendable (PipelineScope) -> (any StagedChange)?)? {
    guard let seat = beginResume(.batch) else { return nil }
    return { _ in seat.collection.endPause(of: seat.member) }
  }
}
