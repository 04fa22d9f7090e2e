import Foundation
import Pando

/// A question of Pando, asked or followed.
struct AskedQuestion {
  let ask: (ModelStore, Query<Item>) throws -> Compared
  /// Begins to follow; the closure waits for the next answer, and returns `nil` if the task was cancelled.
  let follow: (ModelStore, Query<Item>) -> () async throws -> Compared?

  init(_ asking: Asking) { self = Maker(asking: asking).question }

  private init<Answer: Comparing & Sendable>(_ question: Question<Item, Answer>) {
    ask = { store, query in try store.answer(question, to: query).compared }
    follow = { store, query in
      var iterator = store.follow(question, of: query).makeAsyncIterator()
      return { try await iterator.next()?.compared }
    }
  }

  private init<One: Comparing & Sendable, Other: Comparing & Sendable, Third: Comparing & Sendable>(
    _ one: Question<Item, One>, _ other: Question<Item, Other>, _ third: Question<Item, Third>
  ) {
    ask = { store, query in
      let (one, other, third) = try store.answer(one, other, third, to: query)
      return .list([one.compared, other.compared, third.compared])
    }
    follow = { store, query in
      var iterator = store.follow(one, other, third, of: query).makeAsyncIterator()
      return {
        guard let (one, other, third) = try await iterator.next() else { return nil }
        return .list([one.compared, other.compared, third.compared])
      }
    }
  }

  private typealias Answers = Comparing & QueryRepresentable & Sendable

  private struct Maker {
    let asking: Asking

    var question: AskedQuestion {
      switch asking.measure {
      case .count: grouped(.count)
      case .exists: grouped(.exists)
      case .sum(let number): sum(number)
      case .average(let number): average(number)
      case .min(let field): least(field)
      case .max(let field): greatest(field)
      case .percentile(let percentile, let field): ranked(Double(percentile), field)
      case .distinct(let field): distinct(field)
      case .several: AskedQuestion(.count, .sum(\Item.rank), .min(\Item.price))
      }
    }

    private func sum(_ number: Number) -> AskedQuestion {
      switch number {
      case .rank: grouped(.sum(\.rank))
      case .level: grouped(.sum(\.level))
      case .price: grouped(.sum(\.price))
      case .rate: grouped(.sum(\.rate))
      case .weight: grouped(.sum(\.weight))
      case .score: grouped(.sum(\.owner?.score))
      case .partNumber: grouped(.sum(.each(\.parts, \.number)))
      case .partPrice: grouped(.sum(.each(\.parts, \.price)))
      }
    }

    private func average(_ number: Number) -> AskedQuestion {
      switch number {
      case .rank: grouped(.average(\.rank))
      case .level: grouped(.average(\.level))
      case .price: grouped(.average(\.price))
      case .rate: grouped(.average(\.rate))
      case .weight: grouped(.average(\.weight))
      case .score: grouped(.average(\.owner?.score))
      case .partNumber: grouped(.average(.each(\.parts, \.number)))
      case .partPrice: grouped(.average(.each(\.parts, \.price)))
      }
    }

    private func least(_ field: Ordered) -> AskedQuestion {
      switch field {
      case .title: grouped(.min(\.title))
      case .note: grouped(.min(\.note))
      case .rank: grouped(.min(\.rank))
      case .level: grouped(.min(\.level))
      case .price: grouped(.min(\.price))
      case .weight: grouped(.min(\.weight))
      case .due: grouped(.min(\.due))
      case .mark: grouped(.min(\.mark))
      case .ownerName: grouped(.min(\.owner?.name))
      case .partNumber: grouped(.min(.each(\.parts, \.number)))
      }
    }

    private func greatest(_ field: Ordered) -> AskedQuestion {
      switch field {
      case .title: grouped(.max(\.title))
      case .note: grouped(.max(\.note))
      case .rank: grouped(.max(\.rank))
      case .level: grouped(.max(\.level))
      case .price: grouped(.max(\.price))
      case .weight: grouped(.max(\.weight))
      case .due: grouped(.max(\.due))
      case .mark: grouped(.max(\.mark))
      case .ownerName: grouped(.max(\.owner?.name))
      case .partNumber: grouped(.max(.each(\.parts, \.number)))
      }
    }

    private func ranked(_ percentile: Double, _ field: Ordered) -> AskedQuestion {
      switch field {
      case .title: grouped(.percentile(percentile, of: \.title))
      case .note: grouped(.percentile(percentile, of: \.note))
      case .rank: grouped(.percentile(percentile, of: \.rank))
      case .level: grouped(.percentile(percentile, of: \.level))
      case .price: grouped(.percentile(percentile, of: \.price))
      case .weight: grouped(.percentile(percentile, of: \.weight))
      case .due: grouped(.percentile(percentile, of: \.due))
      case .mark: grouped(.percentile(percentile, of: \.mark))
      case .ownerName: grouped(.percentile(percentile, of: \.owner?.name))
      case .partNumber: grouped(.percentile(percentile, of: .each(\.parts, \.number)))
      }
    }

    private func distinct(_ field: Ordered) -> AskedQuestion {
      switch field {
      case .title: groupedLists(.distinct(\.title))
      case .note: groupedLists(.distinct(\.note))
      case .rank: groupedLists(.distinct(\.rank))
      case .level: groupedLists(.distinct(\.level))
      case .price: groupedLists(.distinct(\.price))
      case .weight: groupedLists(.distinct(\.weight))
      case .due: groupedLists(.distinct(\.due))
      case .mark: groupedLists(.distinct(\.mark))
      case .ownerName: groupedLists(.distinct(\.owner?.name))
      case .partNumber: groupedLists(.distinct(.each(\.parts, \.number)))
      }
    }

    private func grouped<Answer: Answers>(_ question: Question<Item, Answer>) -> AskedQuestion {
      switch asking.grouping {
      case .none: AskedQuestion(question)
      case .mark: formed(question.grouped(by: \.mark))
      case .rank: formed(question.grouped(by: \.rank))
      case .level: formed(question.grouped(by: \.level))
      case .title: formed(question.grouped(by: \.title))
      case .ownerName: formed(question.grouped(by: \.owner?.name))
      case .owner: formed(question.grouped(by: .child(\.owner)))
      case .tags: formed(question.grouped(by: .each(\.tags)))
      case .partKind: formed(question.grouped(by: .each(\.parts, \.kind)))
      case .dueDay: formed(question.grouped(by: .date(\.due, .day, in: .gmt)))
      case .madeDay: formed(question.grouped(by: .date(\.made, .day, in: .gmt)))
      case .markAndLevel: formed(question.grouped(by: \.mark, \.level))
      case .tagAndMark: formed(question.grouped(by: .each(\.tags), .field(\.mark)))
      case .partKindAndMark:
        formed(question.grouped(by: .each(\.parts, \.kind), .field(\.mark)))
      }
    }

    /// Lists have no order, so there is no greatest one.
    private func groupedLists<Answer: Comparing & Sendable>(
      _ question: Question<Item, [Answer]>
    ) -> AskedQuestion {
      switch asking.grouping {
      case .none: AskedQuestion(question)
      case .mark: formedByKey(question.grouped(by: \.mark))
      case .rank: formedByKey(question.grouped(by: \.rank))
      case .level: formedByKey(question.grouped(by: \.level))
      case .title: formedByKey(question.grouped(by: \.title))
      case .ownerName: formedByKey(question.grouped(by: \.owner?.name))
      case .owner: formedByKey(question.grouped(by: .child(\.owner)))
      case .tags: formedByKey(question.grouped(by: .each(\.tags)))
      case .partKind: formedByKey(question.grouped(by: .each(\.parts, \.kind)))
      case .dueDay: formedByKey(question.grouped(by: .date(\.due, .day, in: .gmt)))
      case .madeDay: formedByKey(question.grouped(by: .date(\.made, .day, in: .gmt)))
      case .markAndLevel: formedByKey(question.grouped(by: \.mark, \.level))
      case .tagAndMark: formedByKey(question.grouped(by: .each(\.tags), .field(\.mark)))
      case .partKindAndMark:
        formedByKey(question.grouped(by: .each(\.parts, \.kind), .field(\.mark)))
      }
    }

    private func formed<Key: Comparing & Hashable & Sendable, Answer: Answers>(
      _ question: Question<Item, [Key: Answer]>
    ) -> AskedQuestion {
      var question = question
      if let having = asking.having {
        question = question.having { $0.compared.exceeds(having) }
      }
      switch asking.form {
      case .top(let limit): return AskedQuestion(question.top(limit))
      case .bottom(let limit): return AskedQuestion(question.bottom(limit))
      default: return formedByKey(question)
      }
    }

    private func formedByKey<Key: Comparing & Hashable & Sendable, Answer: Comparing & Sendable>(
      _ question: Question<Item, [Key: Answer]>
    ) -> AskedQuestion {
      switch asking.form {
      case .ascending(let limit): AskedQuestion(question.ascending(limit))
      case .descending(let limit): AskedQuestion(question.descending(limit))
      default: AskedQuestion(question)
      }
    }
  }
}

extension Compared {
  /// Whether a number is greater; other values are.
  func exceeds(_ limit: Int) -> Bool {
    switch self {
    case .null: false
    case .int(let value): value > limit
    case .decimal(let value): value > Decimal(limit)
    case .double(let value): value > Double(limit)
    default: true
    }
  }
}
