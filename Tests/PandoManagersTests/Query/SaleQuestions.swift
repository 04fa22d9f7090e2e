import Foundation
import PandoModels
import PandoStore

/// Answers in plain Swift.
private struct Plain {
  /// Groups in which each sale is once, by the lowest of equal keys.
  static func groups<Key: Hashable & QueryRepresentable>(
    _ sales: [Sale], _ keys: (Sale) -> [Key]
  ) -> [(key: Key, sales: [Sale])] {
    var groups: [Key: (key: Key, sales: [Sale])] = [:]
    for sale in sales {
      var seen: Set<Key> = []
      for key in keys(sale).sorted(by: { $0.queryValue < $1.queryValue }) {
        var group = groups[key] ?? (key, [])
        if key.queryValue < group.key.queryValue { group.key = key }
        if seen.insert(key).inserted { group.sales.append(sale) }
        groups[key] = group
      }
    }
    return Array(groups.values)
  }

  static func dictionary<Key: Hashable & QueryRepresentable, Value>(
    _ groups: [(key: Key, sales: [Sale])], _ value: ([Sale]) -> Value
  ) -> [Key: Value] {
    Dictionary(uniqueKeysWithValues: groups.map { ($0.key, value($0.sales)) })
  }

  static func ordered<Key: Hashable & QueryRepresentable & Sendable, Value: Equatable & Sendable>(
    _ groups: [(key: Key, sales: [Sale])], _ value: ([Sale]) -> Value,
    by isBefore: (Value, Value) -> Bool
  ) -> [AnswerGroup<Key, Value>] {
    groups.map { AnswerGroup(key: $0.key, value: value($0.sales)) }.sorted { one, other in
      one.value == other.value
        ? one.key.queryValue < other.key.queryValue : isBefore(one.value, other.value)
    }
  }

  static func total(_ sales: [Sale]) -> Decimal { sales.map(\.total).reduce(0, +) }

  static func quantity(_ sales: [Sale]) -> Int {
    sales.flatMap(\.lines).map(\.quantity).reduce(0, +)
  }

  static func weight(_ sales: [Sale]) -> Double? {
    let weights = sales.map(\.weight).filter { !$0.isNaN }
    return weights.isEmpty ? nil : weights.reduce(0, +) / Double(weights.count)
  }

  static func ranked<Value>(_ percentile: Int, _ sorted: [Value]) -> Value? {
    if sorted.isEmpty { return nil }
    // The nearest rank in whole numbers.
    return sorted[max(1, (percentile * sorted.count + 99) / 100) - 1]
  }

  static func lowest<Value: Comparable>(_ one: Value?, _ other: Value?) -> Bool {
    switch (one, other) {
    case (nil, nil), (_, nil): false
    case (nil, _): true
    case (let one?, let other?): one < other
    }
  }

  static func start(_ date: Date, _ unit: Calendar.Component) -> Date {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = SaleQuestion.berlin
    return calendar.dateInterval(of: unit, for: date)?.start ?? date
  }
}

extension SaleQuestion {
  static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

  /// Questions for all forms of groups, orders and measures.
  static var all: [SaleQuestion] { [groups, lists, dates, ranks].flatMap(\.self) }

  private static let groups: [SaleQuestion] = {
    var questions: [SaleQuestion] = []
    questions += one("top regions", .sum(\.total).grouped(by: \.region).top(2)) { sales in
      Array(Plain.ordered(Plain.groups(sales) { [$0.region] }, Plain.total, by: >).prefix(2))
    }
    questions += one("last days by number", .count.grouped(by: \.day).bottom(2)) { sales in
      Array(Plain.ordered(Plain.groups(sales) { [$0.day] }, \.count, by: <).prefix(2))
    }
    questions += one("all regions by number", .count.grouped(by: \.region).top()) { sales in
      Plain.ordered(Plain.groups(sales) { [$0.region] }, \.count, by: >)
    }
    questions += one("regions in order", .count.grouped(by: \.region).ascending()) { sales in
      Plain.groups(sales) { [$0.region] }
        .map { AnswerGroup(key: $0.key, value: $0.sales.count) }
        .sorted { $0.key.queryValue < $1.key.queryValue }
    }
    questions += one("the last two days", .sum(\.total).grouped(by: \.day).descending(2)) { sales in
      Array(
        Plain.groups(sales) { [$0.day] }
          .map { AnswerGroup(key: $0.key, value: Plain.total($0.sales)) }
          .sorted { $0.key > $1.key }.prefix(2))
    }
    questions += one("latest due by region", .max(\.due).grouped(by: \.region).top(3)) { sales in
      Array(
        Plain.ordered(
          Plain.groups(sales) { [$0.region] }, { $0.compactMap(\.due).max() },
          by: { Plain.lowest($1, $0) }
        ).prefix(3))
    }
    questions += one("average by day", .average(\.weight).grouped(by: \.day).bottom(2)) { sales in
      Array(
        Plain.ordered(
          Plain.groups(sales) { [$0.day] }, Plain.weight, by: { Plain.lowest($0, $1) }
        ).prefix(2))
    }
    questions += one("regions of many", .count.grouped(by: \.region).having { $0 > 2 }) { sales in
      Plain.dictionary(Plain.groups(sales) { [$0.region] }, \.count).filter { $0.value > 2 }
    }
    let small = asked(
      .sum(\.total).grouped(by: \.region).having { $0 < 5 }.having { $0 > -2 }.top(1))
    questions += one("the best of the small regions", small) { sales in
      let all = Plain.ordered(Plain.groups(sales) { [$0.region] }, Plain.total, by: >)
      return Array(all.filter { $0.value < 5 && $0.value > -2 }.prefix(1))
    }
    questions += one(
      "the best region of each day", .sum(\.total).grouped(by: \.region).top(1).grouped(by: \.day)
    ) { sales in
      Plain.dictionary(Plain.groups(sales) { [$0.day] }) { sales in
        Array(Plain.ordered(Plain.groups(sales) { [$0.region] }, Plain.total, by: >).prefix(1))
      }
    }
    questions += one(
      "days and regions", .sum(\.total).grouped(by: \.day, \.region)
    ) { sales in
      Dictionary(grouping: sales) { GroupKey($0.day, $0.region) }.mapValues(Plain.total)
    }
    questions += one(
      "the best of days and regions", .count.grouped(by: \.day, \.region).top(4)
    ) { sales in
      let groups = Plain.groups(sales) { [$0.day] }.flatMap { day, sales in
        Plain.groups(sales) { [$0.region] }
          .map { (day: day, region: $0.key, count: $0.sales.count) }
      }
      let ordered = groups.sorted { one, other in
        if one.count != other.count { return one.count > other.count }
        if one.day != other.day { return one.day < other.day }
        return one.region.queryValue < other.region.queryValue
      }
      return ordered.prefix(4).map {
        AnswerGroup(key: GroupKey($0.day, $0.region), value: $0.count)
      }
    }
    questions += one("cities", .sum(\.total).grouped(by: \.buyer?.city).top(2)) { sales in
      Array(Plain.ordered(Plain.groups(sales) { [$0.buyer?.city] }, Plain.total, by: >).prefix(2))
    }
    questions += one("buyers", .count.grouped(by: .child(\.buyer))) { sales in
      Plain.dictionary(Plain.groups(sales) { [$0.buyer.map { Buyer.key($0.id) }] }, \.count)
    }
    return questions
  }()

  private static let lists: [SaleQuestion] = {
    var questions: [SaleQuestion] = []
    questions += one("quantity", .sum(.each(\.lines, \.quantity)), Plain.quantity)
    questions += one("highest price", .max(.each(\.lines, \.price))) { sales in
      sales.flatMap(\.lines).map(\.price).max()
    }
    questions += one("average quantity", .average(.each(\.lines, \.quantity))) { sales in
      let count = sales.flatMap(\.lines).count
      return count == 0 ? nil : Double(Plain.quantity(sales)) / Double(count)
    }
    questions += one("a rank of quantities", .percentile(90, of: .each(\.lines, \.quantity))) {
      sales in
      Plain.ranked(90, sales.flatMap(\.lines).map(\.quantity).sorted())
    }
    questions += one("sales of tags", .count.grouped(by: .each(\.tags))) { sales in
      Plain.dictionary(Plain.groups(sales, \.tags), \.count)
    }
    questions += one("top tags", .sum(\.total).grouped(by: .each(\.tags)).top(2)) { sales in
      Array(Plain.ordered(Plain.groups(sales, \.tags), Plain.total, by: >).prefix(2))
    }
    questions += one("tags", .distinct(.each(\.tags))) { sales in
      Plain.groups(sales, \.tags).map(\.key).sorted { $0.queryValue < $1.queryValue }
    }
    questions += one(
      "top products",
      .sum(.each(\.lines, \.quantity)).grouped(by: .each(\.lines, \.product)).top(2)
    ) { sales in
      var sums: [String: Int] = [:]
      for line in sales.flatMap(\.lines) { sums[line.product, default: 0] += line.quantity }
      return sums.map { AnswerGroup(key: $0.key, value: $0.value) }
        .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(2).map { $0 }
    }
    questions += one("sales of products", .count.grouped(by: .each(\.lines, \.product))) { sales in
      Plain.dictionary(Plain.groups(sales) { $0.lines.map(\.product) }, \.count)
    }
    questions += one(
      "quantity by tag", .sum(.each(\.lines, \.quantity)).grouped(by: .each(\.tags))
    ) { sales in
      Plain.dictionary(Plain.groups(sales, \.tags), Plain.quantity)
    }
    questions += one(
      "products and regions",
      .max(.each(\.lines, \.price)).grouped(by: .each(\.lines, \.product), .field(\.day))
    ) { sales in
      var prices: [GroupKey<String, String>: Decimal?] = [:]
      for sale in sales {
        for line in sale.lines {
          let key = GroupKey(line.product, sale.day)
          prices[key] = max((prices[key] ?? nil) ?? line.price, line.price)
        }
      }
      return prices
    }
    questions += one(
      "products with tags", .count.grouped(by: .each(\.lines, \.product), .each(\.tags)).top(3)
    ) { sales in
      let pairs = Plain.groups(sales) { $0.lines.map(\.product) }.flatMap { product, sales in
        Plain.groups(sales, \.tags).map { (product: product, tag: $0.key, count: $0.sales.count) }
      }
      let ordered = pairs.sorted { one, other in
        if one.count != other.count { return one.count > other.count }
        if one.product != other.product { return one.product < other.product }
        return one.tag.queryValue < other.tag.queryValue
      }
      return ordered.prefix(3).map {
        AnswerGroup(key: GroupKey($0.product, $0.tag), value: $0.count)
      }
    }
    let products = asked(
      .sum(.each(\.lines, \.price)).grouped(by: .each(\.lines, \.quantity))
        .grouped(by: .each(\.lines, \.product)))
    questions += one("products of quantities, by product", products) { sales in
      Dictionary(grouping: sales.flatMap(\.lines), by: \.product).mapValues { lines in
        Dictionary(grouping: lines, by: \.quantity)
          .mapValues { $0.map(\.price).reduce(0, +) }
      }
    }
    return questions
  }()

  private static let dates: [SaleQuestion] = {
    var questions: [SaleQuestion] = []
    questions += one("per day", .sum(\.total).grouped(by: .date(\.created, .day, in: berlin))) {
      sales in
      Plain.dictionary(Plain.groups(sales) { [Plain.start($0.created, .day)] }, Plain.total)
    }
    questions += one(
      "top weeks", .count.grouped(by: .date(\.created, .weekOfYear, in: berlin)).top(2)
    ) { sales in
      let weeks = Plain.groups(sales) { [Plain.start($0.created, .weekOfYear)] }
      return Array(Plain.ordered(weeks, \.count, by: >).prefix(2))
    }
    questions += one("due months", .count.grouped(by: .date(\.due, .month, in: berlin))) { sales in
      Plain.dictionary(
        Plain.groups(sales) { [$0.due.map { Plain.start($0, .month) }] }, \.count)
    }
    let sent = asked(
      .sum(.each(\.lines, \.quantity))
        .grouped(by: .date(.each(\.lines, \.sent), .day, in: berlin)).ascending(3))
    questions += one("sent per day", sent) { sales in
      Dictionary(grouping: sales.flatMap(\.lines)) { Plain.start($0.sent, .day) }
        .map { AnswerGroup(key: $0.key, value: $0.value.map(\.quantity).reduce(0, +)) }
        .sorted { $0.key < $1.key }.prefix(3).map { $0 }
    }
    return questions
  }()

  private static let ranks: [SaleQuestion] = {
    var questions: [SaleQuestion] = []
    for percentile in [0, 7, 50, 99, 100] {
      questions += one("\(percentile) % of weights", .percentile(Double(percentile), of: \.weight))
      {
        Plain.ranked(percentile, $0.map(\.weight).filter { !$0.isNaN }.sorted())
      }
    }
    questions += one("median due", .median(\.due)) { sales in
      Plain.ranked(50, sales.compactMap(\.due).sorted())
    }
    questions += one("median region", .median(\.region)) { sales in
      Plain.ranked(50, sales.compactMap(\.region).sorted { $0.queryValue < $1.queryValue })
    }
    questions += one("median total by day", .median(\.total).grouped(by: \.day)) { sales in
      Plain.dictionary(Plain.groups(sales) { [$0.day] }) {
        Plain.ranked(50, $0.map(\.total).sorted())
      }
    }
    questions += one("median total by region", .median(\.total).grouped(by: \.region)) { sales in
      Plain.dictionary(Plain.groups(sales) { [$0.region] }) {
        Plain.ranked(50, $0.map(\.total).sorted())
      }
    }
    return questions
  }()

  /// A question by itself, whose type is then known where it is compared.
  private static func asked<Answer>(_ question: Question<Sale, Answer>) -> Question<Sale, Answer> {
    question
  }

  /// A list of one question; each is a statement of its own, because the compiler takes long for a list of many.
  private static func one<Answer: Equatable>(
    _ name: String, _ question: Question<Sale, Answer>,
    _ plain: @escaping @Sendable ([Sale]) -> Answer
  ) -> [SaleQuestion] { [SaleQuestion(name, question, plain)] }
}
