package import PandoManagers
import PandoModels

extension RemoteStore: ChangesStoring {
  package var clientIdentifier: String { clientQueue.client.identifier }

  package func fetchChanges(
    since cursor: String?, isLink: Bool
  ) async throws -> RemoteChanges<E> {
    let path = RemotePath<E>.changes(since: isLink ? nil : cursor)
    var request = try request(for: path)
    if isLink, let cursor { request.query = APIRequest.query(ofLink: cursor) }
    // The answer to an earlier request is older than later writes.
    request.configuration.sharesEqualRequests = false
    let payload = E.payload(for: path)
    guard payload.changeNames != nil, payload.read == nil else {
      throw APIError(
        .noRequest, request, "payload(for:) does not say where the changes are; give it .changes(…)"
      )
    }
    let response: APIResponse
    do {
      response = try await clientQueue.read(request, .type(E.identifierNamespace))
    } catch let error as APIError where error.code == .dropped {
      throw ManagerError(.aborted, E.modelTypeName, "it was not read", underlying: [error])
    } catch let error as APIError where cursor != nil && payload.isExpiredCursor(error) {
      throw ExpiredCursor(error)
    }
    let content = try payload.content(of: response, to: request, decoder: E.makeDecoder())
    func malformed(_ reason: String) -> APIError {
      APIError(.malformedAnswer, request, reason, status: response.status)
    }
    if content.changes.isExpired, cursor != nil {
      throw ExpiredCursor(malformed("the server does not know the cursor"))
    }
    let page = content.page
    guard let next = page?.next ?? page?.cursor ?? content.changes.cursor else {
      throw malformed("the answer does not say by what the next changes are asked for")
    }
    var answer = RemoteAnswer(result: QueryResult(content.entities), isComplete: false)
    answer.malformed = content.malformed
    answer.included = content.included
    var changes = RemoteChanges(
      answer, removed: content.changes.removed, cursor: next, isLink: page?.next != nil,
      hasMore: page?.hasNext ?? false || content.changes.hasMore,
      leadsBack: malformed("the next page is this one, or one before it"))
    changes.absence = content.absence
    return changes
  }

  package func fetchCurrent(
    _ identifiers: [EntityIdentifier<E>]
  ) async throws -> RemoteAnswer<E>? {
    guard
      try E.request(for: .getAll(identifiers)) != nil
        || identifiers.allSatisfy({ try E.request(for: .get($0)) != nil })
    else { return nil }
    do {
      return try await fetch(Query(ids: identifiers), in: .remote())
    } catch let error as APIError where error.code == .dropped {
      throw ManagerError(.aborted, E.modelTypeName, "it was not read", underlying: [error])
    } catch let error as APIError where error.code == .notFound && identifiers.count == 1 {
      return RemoteAnswer(result: .empty, isComplete: true)
    }
  }
}

extension APIRequest {
  /// The query items of an address.
  fileprivate static func query(ofLink link: String) -> [QueryItem] {
    let end = link.firstIndex(of: "#") ?? link.endIndex
    guard let mark = link[..<end].firstIndex(of: "?") else { return [] }
    return link[link.index(after: mark)..<end].split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let texts = parts.map { APIPath.unescaping($0) ?? String($0) }
      return QueryItem(texts[0], texts.count > 1 ? texts[1] : "")
    }
  }
}
