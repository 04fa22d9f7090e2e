import ExampleServer
import Foundation
import Pando

/// What the service answers to whom, and what a request does to the data.
///
/// None of this knows a view: a change is given to the manager, or to a collection by its key, and
/// whoever shows it is told.
extension InboxService {
  /// Answers a request.
  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do {
      return try await route(request)
    } catch let error as HTTPError {
      var response = HTTPResponse(error: error.reason, status: error.status)
      if error.status == 405 { response.fields = [.init(name: "Allow", value: error.allowed)] }
      return response
    } catch {
      return HTTPResponse(error: "\(error)", status: 500)
    }
  }

  private func route(_ request: HTTPRequest) async throws -> HTTPResponse {
    let method = request.method == "HEAD" ? "GET" : request.method
    switch (request.path.first, request.path.count) {
    case (nil, 0):
      try require(method, among: "GET")
      return HTTPResponse(Self.routes)
    case ("inbox", 2):
      let id = try number(request.path[1])
      try require(method, among: "GET", "PUT")
      return try await method == "GET" ? message(id) : putMessage(id, request)
    case ("contacts", 1):
      try require(method, among: "GET")
      return HTTPResponse(contactsView.dataProvider.data)
    case ("people", 2):
      let id = try number(request.path[1])
      try require(method, among: "PUT", "DELETE")
      return try await method == "PUT" ? putPerson(id, request) : deletePerson(id)
    case ("push", 1):
      try require(method, among: "POST")
      return try await push(request)
    default:
      throw HTTPError(404, "there is nothing here; GET / lists what there is")
    }
  }

  private static let routes = [
    "GET /inbox/\(messageID)", "PUT /inbox/\(messageID)", "GET /contacts", "PUT /people/ID",
    "DELETE /people/ID", "POST /push",
  ]

  private func message(_ id: Int) throws -> HTTPResponse {
    guard let message = messageView.dataProvider.data, message.id == id else {
      throw HTTPError(404, "there is no message \(id) now")
    }
    return HTTPResponse(message)
  }

  private func putMessage(_ id: Int, _ request: HTTPRequest) async throws -> HTTPResponse {
    let message = try decode(Message.self, from: request)
    guard message.id == id else { throw HTTPError(400, "id is \(message.id), the path says \(id)") }
    return try await commit(
      dataModelManager.updateModel(message, context: "PUT /inbox/\(id)"))
  }

  private func putPerson(_ id: Int, _ request: HTTPRequest) async throws -> HTTPResponse {
    let content = try decode(PersonContent.self, from: request)
    let person = Person(id: id, name: content.name, isOnline: content.isOnline)
    return try await commit(dataModelManager.updateModel(person, context: "PUT /people/\(id)"))
  }

  /// What a request says about a person whom its path names.
  private struct PersonContent: Decodable {
    let name: String
    let isOnline: Bool
  }

  private func deletePerson(_ id: Int) async throws -> HTTPResponse {
    // Only the identifier counts.
    let person = Person(id: id, name: "", isOnline: false)
    let deletion = dataModelManager.deleteModel(person, context: "DELETE /people/\(id)")
    guard let changeSet = try await deletion.committed() else {
      throw HTTPError(404, "there is no person \(id)")
    }
    return HTTPResponse(CommitAnswer(changeSet))
  }

  /// A push knows no view and no provider: the key of the list is enough.
  private func push(_ request: HTTPRequest) async throws -> HTTPResponse {
    let people = try decode([Person].self, from: request)
    return try await commit(
      CollectionDataProvider.append(
        people, cacheKey: ContactsView.cacheKey, dataModelManager: dataModelManager,
        context: "a push"))
  }

  private func commit(_ write: PendingWrite) async throws -> HTTPResponse {
    HTTPResponse(CommitAnswer(try await write.committed()))
  }

  private func require(_ method: String, among allowed: String...) throws(HTTPError) {
    guard !allowed.contains(method) else { return }
    throw HTTPError(405, "\(method) is not for this path", allowed: allowed.joined(separator: ", "))
  }

  private func number(_ text: String) throws(HTTPError) -> Int {
    guard let number = Int(text) else { throw HTTPError(404, "“\(text)” is no number") }
    return number
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, from request: HTTPRequest
  ) throws(HTTPError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(request.body))
    } catch let error as DecodingError {
      throw HTTPError(400, error.sentence)
    } catch {
      throw HTTPError(400, "the content can't be read: \(error)")
    }
  }
}
