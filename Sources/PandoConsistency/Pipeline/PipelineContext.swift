import PandoSystem

/// The objects that a pipeline uses for one manager.
struct PipelineContext: Sendable {
  let registry: Locked<LiveRegistry>
  let deliverer: Deliverer
  let pipeline: Pipeline
  let reporter: any PipelineReporter
  /// Grows when queued updates are cancelled.
  let epoch = Locked<UInt64>(0)
}
