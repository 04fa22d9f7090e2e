import PandoModels
import PandoStore
import PandoSystem

// MARK: - Times of server answers
extension CoreManager {
  /// Returns the times to store for an answer, one for each key that it answers.
  func times(of answer: RemoteAnswer<E>, to request: EntityRead<E>, in context: ReadContext<E>)
    -> [AnswerTime]
  {
    let keys = request.keys(context.endpoint)
    let now = continuous.now
    guard let identifiers = request.identifiers else {
      // A bounded query asks for a part, so a part is its whole answer.
      let isWhole =
        answer.malformed.isEmpty && (answer.isComplete || !request.query.isUnbounded)
      let isEmpty = answer.result.isEmpty
      return isWhole ? keys.map { AnswerTime(key: $0, time: now, isEmpty: isEmpty) } : []
    }
    let found = Set(answer.result.entities.map(\.id))
    return zip(identifiers, keys).compactMap { identifier, key in
      let isEmpty = !found.contains(identifier)
      if isEmpty, !answer.isComplete { return nil }
      return AnswerTime(key: key, time: now, isEmpty: isEmpty)
    }
  }

  /// Returns whether the local entities are a recent answer of a server.
  ///
  /// - Parameters:
  ///   - request: The read.
  ///   - context: Its context.
  ///   - maxAge: The greatest age of a recent answer.
  ///   - present: The local entities.
  /// - Returns: Whether no request to the server is needed.
  /// - Throws: `StoreError` or `LMDBError` if the store can't be read.
  func isFresh(
    _ request: EntityRead<E>, in context: ReadContext<E>, _ maxAge: Duration, present: [E]
  ) throws -> Bool {
    let times = try freshTimes(request, in: context, maxAge)
    guard let identifiers = request.identifiers else {
      return times.first?.map { $0.isEmpty || !present.isEmpty } ?? false
    }
    let here = Set(present.map(\.id))
    return zip(identifiers, times).allSatisfy { identifier, time in
      time.map { $0.isEmpty || here.contains(identifier) } ?? false
    }
  }

  /// The times of the answers to the keys of a read; `nil` for a key without an answer, or with one that
  /// is too old.
  private func freshTimes(
    _ request: EntityRead<E>, in context: ReadContext<E>, _ maxAge: Duration
  ) throws -> [AnswerTime?] {
    let keys = request.keys(context.endpoint)
    let times: [AnswerTime?]
    if let store = stack.followedStore {
      times = try store.read { snapshot in
        try keys.map { try snapshot.answerTime($0, of: E.modelTypeName) }
      }
    } else {
      times = keys.map { answers[$0] }
    }
    let now = continuous.now
    let (seconds, attoseconds) = maxAge.components
    let limit = Double(seconds) * 1000 + Double(attoseconds) / 1e15
    return times.map { time in
      guard let time, time.time <= now, Double(now - time.time) <= limit else { return nil }
      return time
    }
  }
}
