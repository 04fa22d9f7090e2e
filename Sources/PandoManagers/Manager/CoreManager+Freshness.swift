import PandoModels
import PandoStore
import PandoSystem

/// When servers have answered, and what that is good for.
extension CoreManager {
  /// What is to be noted of an answer.
  func times(of answer: RemoteAnswer<E>, to request: EntityRead<E>, in context: ReadContext<E>)
    -> [AnswerTime]
  {
    let keys = request.keys(context.endpoint)
    let now = continuous.now
    guard let identifiers = request.identifiers else {
      // A part that was asked for is all that was asked for.
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

  /// Whether a server has answered a question not longer ago than that, and what is here is what is left
  /// of its answer.
  ///
  /// - Parameters:
  ///   - request: The question.
  ///   - context: How it is asked.
  ///   - maxAge: How long ago, at most.
  ///   - present: The entities that are here.
  /// - Returns: Whether the server need not be asked.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be read.
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

  /// When its keys were answered to; `nil` for those that were not, or too long ago.
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
