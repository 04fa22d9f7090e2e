import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import Testing

@testable import PandoManagersFixtures

/// How requests are stored: those of an earlier version must be read by a later one.
@Suite struct RequestCodingTests {
  private let json = #"""
    {"attemptCount":2,"client":"default","commitNumber":12,"date":700000000,"handler":"entity:Volume",\#
    "id":7,"lastFailure":"no","makes":[],"note":"{}","request":{"body":{"bytes":"e30=",\#
    "contentType":"application/json","localIdentifiers":["Volume:local:a"]},"configuration":{\#
    "retryPolicy":{"attemptCountMaximum":3,"statuses":[429,503]},"sharesEqualRequests":true,\#
    "timeoutInSeconds":5,"uniquingKey":"k","usesConditionalRequests":true},"headers":{"fields":[{\#
    "name":"X-App","value":"a"}]},"method":"PUT","path":{"localIdentifiers":["Volume:local:a"],\#
    "text":"/volumes/local:a"},"query":[{"name":"q","value":"1"}]},"state":"waiting",\#
    "subjects":["Volume:local:a"],"token":"t"}
    """#

  @Test func `a request that was stored before there were lanes is read, and stored alike`() throws
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let entry = try JSONDecoder().decode(QueuedRequest.self, from: Data(json.utf8))
    #expect(entry.request.configuration.strategy == .serial)
    #expect(entry.related == nil && entry.request.headers["x-app"] == "a")
    #expect(String(decoding: try encoder.encode(entry), as: UTF8.self) == json)
  }

  @Test func `the commit number of a request is stored with its history`() throws {
    var row = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let old = try JSONDecoder().decode(QueuedRequest.self, from: Data(json.utf8))
    #expect(old.commitNumber == CommitNumber(value: 12))
    row["history"] = NSNumber(value: UInt64.max)
    let entry = try JSONDecoder().decode(
      QueuedRequest.self, from: JSONSerialization.data(withJSONObject: row))
    #expect(entry.commitNumber == CommitNumber(value: 12, history: .max))
    let again = try JSONDecoder().decode(
      QueuedRequest.self, from: JSONEncoder().encode(entry))
    #expect(again.commitNumber == entry.commitNumber)
  }

  @Test func `a request is stored with the fields that lanes need`() throws {
    var request = APIRequest(.post, "/events")
    request.configuration.strategy = .after("audit")
    request.configuration.retryPolicy.secondsMaximum = 60
    let read = try JSONDecoder().decode(APIRequest.self, from: JSONEncoder().encode(request))
    #expect(read == request && read.configuration.strategy == .after("audit"))
  }
}
