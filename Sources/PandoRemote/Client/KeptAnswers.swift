import FoundationEssentials
import PandoModels
import PandoSystem

/// The answers in memory for conditional requests; the least recently used one is removed first.
final class KeptAnswers: Sendable {
  private struct Entry {
    var response: APIResponse
    var lastUse: UInt64
  }

  private struct State {
    var entries: [ByteString: Entry] = [:]
    var byteCount = 0
    var useCount: UInt64 = 0
  }

  private let state = Locked(State())
  private let byteCountMaximum: Int

  init(byteCountMaximum: Int) { self.byteCountMaximum = byteCountMaximum }

  /// Returns the kept answer to a request, and marks it as used.
  func answer(to request: APIRequest) -> APIResponse? {
    let key = request.key
    return state.withLock { state in
      guard state.entries[key] != nil else { return nil }
      state.useCount += 1
      state.entries[key]?.lastUse = state.useCount
      return state.entries[key]?.response
    }
  }

  func removeAll() {
    state.withLock { state in
      state.entries = [:]
      state.byteCount = 0
    }
  }

  /// Keeps an answer with `ETag` or `Last-Modified`, unless it is large or `no-store`.
  func keep(_ response: APIResponse, to request: APIRequest) {
    guard response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil,
      response.headers["Cache-Control"]?.lowercased().contains("no-store") != true,
      response.body.count <= byteCountMaximum / 4
    else { return }
    state.withLock { state in
      state.useCount += 1
      let old = state.entries.updateValue(
        Entry(response: response, lastUse: state.useCount), forKey: request.key)
      state.byteCount += response.body.count - (old?.response.body.count ?? 0)
      while state.byteCount > byteCountMaximum,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        state.entries[oldest.key] = nil
        state.byteCount -= oldest.value.response.body.count
      }
    }
  }
}

extension APIRequest {
  /// The target and the header fields, which distinguish it from other reads.
  fileprivate var key: ByteString {
    let headers = headers.fields.map { "\n\($0.name.lowercased()):\($0.value)" }
    return ByteString(target + headers.joined())
  }

  /// Returns this request, made conditional: the server answers 304 if the kept answer is still valid.
  func unless(_ kept: APIResponse) -> APIRequest {
    var request = self
    if let tag = kept.headers["ETag"], headers["If-None-Match"] == nil {
      request.headers["If-None-Match"] = tag
    } else if let date = kept.headers["Last-Modified"], headers["If-Modified-Since"] == nil {
      request.headers["If-Modified-Since"] = date
    }
    return request
  }
}
