import PandoConsistency
import PandoSystem

extension DataProvider: AnyDataProvider, BatchMember {
  func join(_ batch: BatchCore) -> Bool {
    holder.state.withLock { state in
      let rare = state.makeRare()
      guard rare.batch == nil else { return false }
      rare.batch = batch
      return true
    }
  }

  func pauseForBatch() { holder.pause(.batch) }

  func resumeForBatch() -> (@Sendable (PipelineScope) -> (any StagedChange)?)? {
    guard holder.beginResume(.batch) else { return nil }
    return { [holder] _ in holder.finishResume() }
  }
}
