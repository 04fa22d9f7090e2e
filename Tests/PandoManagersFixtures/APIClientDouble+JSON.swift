import Foundation
import PandoRemote
import PandoTestSupport

extension APIClientDouble {
  /// Answers with JSON and 200.
  func answer(_ method: HTTPMethod, _ path: String, json: String) {
    answer(method, path, with: APIResponse(status: 200, body: Data(json.utf8)))
  }

  /// The contents of the requests that have one, in order.
  var bodies: [String] {
    requests.compactMap { request in
      request.body.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
  }
}
