import FoundationEssentials
import PandoModels
import PandoSystem

/// Answers that a server can be asked about again, whether they still hold.
///
/// In memory, the one used longest ago goes first.
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

  /// The answer kept for a request; it counts as used.
  func answer(to request: APIRequest) -> APIResponse? {
    let key = request.key
    return state.withLock { state in
      guard state.entries[key] != nil else { return nil }
      state.useCount += 1
      state.entries[key]?.lastUse = state.useCount
      return state.entries[key]?.response
    }
  }

  /// Lets all answers go.
  func removeAll() {
    state.withLock { state in
      state.entries = [:]
      state.byteCount = 0
    }
  }

  /// Keeps an answer if the server gave it a mark by which it can be asked about.
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
  /// What tells it from other requests that only read.
  fileprivate var key: ByteString {
    let headers = headers.fields.map { "\n\($0.name.lowercased()):\($0.value)" }
    return ByteString(target + headers.joined())
  }

  /// This request, asking for an answer only if it is another one than the one kept.
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
