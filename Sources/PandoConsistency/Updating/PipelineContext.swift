import PandoSystem

/// What a pipeline works on.
struct PipelineContext: Sendable {
  let registry: Locked<LiveRegistry>
  let deliverer: Deliverer
  let publishing: ReadWriteLock
  let reporter: Reporter
  let updatesListeners: UpdatesListeners
}
