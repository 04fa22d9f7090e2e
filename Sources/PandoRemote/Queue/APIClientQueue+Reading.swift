import PandoSystem

/// Requests that only read.
extension APIClientQueue {
  /// Sends the reads that wait for no durable request.
  func startReads() {
    state.withLock { state in
      for number in state.lanes.takeReads() {
        state.reads[number & ~RequestLanes.firstRead]?.isLetThrough = true
      }
      for (key, read) in state.reads where read.task == nil && read.isLetThrough {
        if case .type(let name) = read.scope, state.lanes.changes(name, before: read.order) {
          continue
        }
        state.reads[key]?.task = task(for: read, key)
      }
    }
  }

  /// Ends reads that would wait for a busy server: those behind delayed requests, in a pause all of them.
  func endStalledReads() {
    let (error, keys): ((any Error)?, [UInt64]) = state.withLock { state in
      let waiting = state.reads.filter { $0.value.task == nil && $0.value.isQueued }
      if waiting.isEmpty { return (nil, []) }
      if let error = state.pauseError { return (error, Array(waiting.keys)) }
      guard let error = state.held.values.first?.error else { return (nil, []) }
      let stalled = state.lanes.stalled(by: Array(state.held.keys))
      let keys = waiting.filter { key, read in
        if case .type(let name) = read.scope {
          return state.lanes.changes(name, before: read.order, among: stalled)
        }
        return stalled.contains(RequestLanes.firstRead | key)
      }.keys
      return (error, Array(keys))
    }
    if let error { endReads(keys, with: error) }
  }

  private func task(for read: ReadRequest, _ key: UInt64) -> Task<Void, Never> {
    Task.detached { [runner, storage, signal, weak self] in
      let result: Result<APIResponse, any Error>
      do {
        let commitNumber = try storage.commitNumber
        var response = try await runner.answer(to: read.request)
        response.commitNumber = commitNumber
        result = .success(response)
      } catch {
        result = .failure(error)
      }
      let ended = self?.state.withLock { state in
        state.lanes.finish(RequestLanes.firstRead | key)
        return state.reads.removeValue(forKey: key)
      }
      for continuation in ended?.waiters.values.map({ $0 }) ?? [] {
        continuation.resume(with: result)
      }
      signal.set(.progress)
    }
  }

  /// Ends reads that were not sent.
  func endReads(_ keys: [UInt64], with error: any Error) {
    let ended = state.withLock { state in
      keys.compactMap { key in
        state.lanes.finish(RequestLanes.firstRead | key)
        return state.reads.removeValue(forKey: key)
      }
    }
    for read in ended {
      read.end(with: .failure((error as? APIError).map { $0.telling(read.request) } ?? error))
    }
  }
}
