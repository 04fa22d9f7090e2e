import Foundation

/// What a request asks for: the second word of its first line.
struct HTTPTarget {
  /// The parts of the path between slashes, decoded; an empty part is left out.
  let path: [String]
  /// What stands behind the question mark, as it came.
  let query: String

  /// Reads a target.
  ///
  /// - Parameter bytes: `/path?query`, or a whole address as proxies send it.
  /// - Throws: What is wrong with it.
  init(_ bytes: ArraySlice<UInt8>) throws(HTTPError) {
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw HTTPError(400, "the path holds a character that has to be encoded with %")
    }
    var text = String(decoding: bytes, as: UTF8.self)[...]
    if text.lowercased().hasPrefix("http://") {
      let rest = text.dropFirst("http://".count)
      text = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
    }
    guard text.first == "/" else { throw HTTPError(400, "a path begins with /") }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    query = parts.count > 1 ? String(parts[1]) : ""
    var path: [String] = []
    for part in parts[0].split(separator: "/") {
      guard let decoded = part.removingPercentEncoding else {
        throw HTTPError(400, "the path holds a % that encodes nothing")
      }
      path.append(decoded)
    }
    self.path = path
  }
}
