import PandoSystem

/// What a pipeline works on.
struct PipelineContext: Sendable {
  let registry: Locked<LiveRegistry>
  let deliverer: Deliverer
  let pipeline: Pipeline
  let reporter: any PipelineReporter
  /// Grows when what is queued is cancelled.
  let epoch = Locked<UInt64>(0)
}
