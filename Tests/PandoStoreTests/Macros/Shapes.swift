import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import PandoStore

/// Makes random values; the edge values of each type come often.
final class Dice {
  private var generator: SeededGenerator

  init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }

  func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
  func bool() -> Bool { .random(using: &generator) }

  func int<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
    switch below(5) {
    case 0: .min
    case 1: .max
    case 2: 0
    default: .random(in: .min ... .max, using: &generator)
    }
  }

  func double() -> Double {
    switch below(7) {
    case 0: 0
    case 1: -0.0
    case 2: .infinity
    case 3: 0.1
    case 4: 1e300
    default: .random(in: -1e6...1e6, using: &generator)
    }
  }

  func text() -> String {
    ["", "a", "name", "Ünïcode 🌳", "line\nbreak\u{0}", String(repeating: "x", count: 300)][below(6)]
  }

  func date() -> Date {
    Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &generator))
  }
  func uuid() -> UUID { .random(using: &generator) }
  func data() -> Data { Data((0..<below(40)).map { _ in int(UInt8.self) }) }
  func url() -> URL { URL(filePath: "/folder/\(below(100)).txt") }

  func decimal() -> Decimal {
    Decimal(
      sign: bool() ? .plus : .minus, exponent: below(40) - 20,
      significand: Decimal(int(UInt64.self) >> UInt64(below(60))))
  }

  func optional<T>(_ make: () -> T) -> T? { bool() ? make() : nil }
  func list<T>(_ make: () -> T) -> [T] { (0..<below(4)).map { _ in make() } }

  func map<K: Hashable, V>(_ make: () -> (K, V)) -> [K: V] {
    Dictionary((0..<below(4)).map { _ in make() }) { $1 }
  }

  func one<T: CaseIterable>(_ type: T.Type = T.self) -> T {
    T.allCases[T.allCases.index(T.allCases.startIndex, offsetBy: below(T.allCases.count))]
  }
}

extension UUID {
  fileprivate static func random(using generator: inout some RandomNumberGenerator) -> UUID {
    var bytes = (generator.next(), generator.next())
    return unsafe withUnsafeBytes(of: &bytes) { unsafe $0.loadUnaligned(as: UUID.self) }
  }
}

/// A type of which there are random values.
protocol Shape: Codable, Equatable, Sendable {
  init(_ dice: Dice)
}

/// The types, of names as different as possible: long, short, renamed, of other scripts.
enum Shapes {
  @Embedded enum Level: String, CaseIterable, Hashable { case low, high = "HIGH" }
  @Embedded enum Rank: Int, CaseIterable { case first = 1, last = -7 }

  @Embedded enum Payment {
    case open
    case paid(at: Date, reference: String?)
    case refunded(Decimal)
    case split([Int], by: Level)
  }

  @Embedded struct Point: Shape {
    var x: Double
    var y: Float
  }

  @Embedded struct Signed: Shape {
    var a: Int
    var b: Int8
    var c: Int16
    var d: Int32
    var e: Int64
  }

  @Embedded struct Unsigned: Shape {
    var a: UInt
    var b: UInt8
    var c: UInt16
    var d: UInt32
    var e: UInt64
  }

  @Embedded struct Wide: Shape {
    var a: Int128
    var b: UInt128?
  }

  @Embedded struct Optionals: Shape {
    var bool: Bool?
    var int: Int?
    var double: Double?
    var float: Float?
    var text: String?
    var unsigned: UInt64?
    var small: Int8?
  }

  @Embedded struct Foundational: Shape {
    var date: Date
    var uuid: UUID
    var data: Data
    var url: URL
    var decimal: Decimal
  }

  @Embedded struct OptionalFoundational: Shape {
    var date: Date?
    var uuid: UUID?
    var data: Data?
    var url: URL?
    var decimal: Decimal?
    var duration: Duration?
  }

  @Embedded struct Lists: Shape {
    var ints: [Int]
    var texts: [String]
    var dates: [Date]?
    var nested: [[Double]]
    var optionals: [Int?]
    var bytes: [UInt8]
  }

  @Embedded struct Maps: Shape {
    var byText: [String: Int]
    var byInt: [Int: String]
    var byLevel: [Level: Double]
    var ofLists: [String: [Bool]]
    var ofMaps: [String: [String: Int]]?
  }

  @Embedded struct Sets: Shape {
    var ints: Set<Int>
    var texts: Set<String>?
  }

  @Embedded struct Enums: Shape {
    var level: Level
    var rank: Rank
    var other: Level?
    var levels: [Level]
  }

  @Embedded struct Payments: Shape {
    var first: Payment
    var second: Payment?
    var all: [Payment]
    var byName: [String: Payment]
  }

  @Embedded struct Inner: Shape {
    var point: Point
    var note: String?
    var corners: [Point]
  }

  @Embedded struct Outer: Shape {
    var inner: Inner
    var other: Inner?
    var all: [Inner]
    var byName: [String: Inner]
  }

  @Embedded struct Renamed: Shape {
    enum CodingKeys: String, CodingKey {
      case id = "identifier", name = "n", length = "a rather long name of more than 23 bytes", größe
    }
    var id: Int
    var name: String
    var length: Double
    var größe: Int
  }

  @Embedded struct Transients: Shape {
    var id: Int
    @Transient var isSelected = true
    @Transient var cached: String?
    var name: String
  }

  @Embedded struct Constants: Shape {
    let id: Int
    let name: String?
  }

  @Embedded struct Defaults: Shape {
    var count = 3
    var name = "none"
    var ratio: Double = 1
    var tags: [String] = ["a"]
    var level: Level = .low
  }

  @Embedded struct One: Shape { var value: Bool }

  @Embedded struct Words: Shape {
    var `default`: Int
    var `class`: String?
    var `self`: Bool
  }

  @Embedded struct Observed: Shape {
    var value: Int { didSet {} }
    var twice: Int { value &* 2 }
    static let limit = 3
  }

  @Embedded struct Several: Shape { var a, b: Int, c: String }

  @Embedded struct Aliased: Shape {
    typealias Cents = Int
    var price: Cents
    var other: Cents?
    var prices: [Cents]
  }

  @Embedded struct Many: Shape {
    var a1: Int, a2: String, a3: Bool, a4: Double, a5: Int?, a6: String?, a7: Bool?, a8: Double?
    var b1: Int, b2: String, b3: Bool, b4: Double, b5: Int?, b6: String?, b7: Bool?, b8: Double?
    var c1: Int, c2: String, c3: Bool, c4: Double, c5: Int?, c6: String?, c7: Bool?, c8: Double?
  }

  // Models with children.

  @Model struct Writer: Shape {
    @Key var id: Int
    var name: String
    var home: Point?
  }

  @Model struct Sheet: Shape {
    @Key var shelf: String
    @Key var number: UInt16
    var writer: Writer
    var editor: Writer?
  }

  @Model struct Folder: Shape {
    @Key var id: UUID
    var sheets: [Sheet]
    var byName: [String: Writer]
    var optional: [Writer]?
  }

  @Embedded struct Holder: Shape {
    var writer: Writer
    var others: [Writer]
  }

  @Model("Cover") struct Cover: Shape {
    @Key var key: Key<Sheet>
    var holder: Holder
    var next: Key<Cover>?
    var seen: [Key<Writer>]
    var counts: [Key<Writer>: Int]
  }

  @Model struct Versioned: Shape {
    @Key var level: Level
    @Renamed(from: "title") var name: String
    var note: String? = "none"
  }
}

extension Shapes.Payment: Shape {
  init(_ dice: Dice) {
    switch dice.below(4) {
    case 0: self = .open
    case 1: self = .paid(at: dice.date(), reference: dice.optional(dice.text))
    case 2: self = .refunded(dice.decimal())
    default: self = .split(dice.list { dice.int() }, by: dice.one())
    }
  }
}

extension Shapes.Point {
  init(_ dice: Dice) { self.init(x: dice.double(), y: Float(dice.double())) }
}

extension Shapes.Signed {
  init(_ dice: Dice) {
    self.init(a: dice.int(), b: dice.int(), c: dice.int(), d: dice.int(), e: dice.int())
  }
}

extension Shapes.Unsigned {
  init(_ dice: Dice) {
    self.init(a: dice.int(), b: dice.int(), c: dice.int(), d: dice.int(), e: dice.int())
  }
}

extension Shapes.Wide {
  init(_ dice: Dice) { self.init(a: dice.int(), b: dice.optional { dice.int() }) }
}

extension Shapes.Optionals {
  init(_ dice: Dice) {
    self.init(
      bool: dice.optional(dice.bool), int: dice.optional { dice.int() },
      double: dice.optional(dice.double), float: dice.optional { Float(dice.double()) },
      text: dice.optional(dice.text), unsigned: dice.optional { dice.int() },
      small: dice.optional { dice.int() })
  }
}

extension Shapes.Foundational {
  init(_ dice: Dice) {
    self.init(
      date: dice.date(), uuid: dice.uuid(), data: dice.data(), url: dice.url(),
      decimal: dice.decimal())
  }
}

extension Shapes.OptionalFoundational {
  init(_ dice: Dice) {
    self.init(
      date: dice.optional(dice.date), uuid: dice.optional(dice.uuid),
      data: dice.optional(dice.data), url: dice.optional(dice.url),
      decimal: dice.optional(dice.decimal),
      duration: dice.optional { .nanoseconds(dice.int(Int64.self)) })
  }
}

extension Shapes.Lists {
  init(_ dice: Dice) {
    self.init(
      ints: dice.list { dice.int() }, texts: dice.list(dice.text),
      dates: dice.optional { dice.list(dice.date) }, nested: dice.list { dice.list(dice.double) },
      optionals: dice.list { dice.optional { dice.int() } }, bytes: dice.list { dice.int() })
  }
}

extension Shapes.Maps {
  init(_ dice: Dice) {
    self.init(
      byText: dice.map { (dice.text(), dice.int()) }, byInt: dice.map { (dice.int(), dice.text()) },
      byLevel: dice.map { (dice.one(), dice.double()) },
      ofLists: dice.map { (dice.text(), dice.list(dice.bool)) },
      ofMaps: dice.optional { dice.map { (dice.text(), dice.map { (dice.text(), dice.int()) }) } })
  }
}

extension Shapes.Sets {
  init(_ dice: Dice) {
    self.init(
      ints: dice.bool() ? [dice.int()] : [],
      texts: dice.optional { dice.bool() ? [dice.text()] : [] })
  }
}

extension Shapes.Enums {
  init(_ dice: Dice) {
    self.init(
      level: dice.one(), rank: dice.one(), other: dice.optional { dice.one() },
      levels: dice.list { dice.one() })
  }
}

extension Shapes.Payments {
  init(_ dice: Dice) {
    self.init(
      first: Shapes.Payment(dice), second: dice.optional { Shapes.Payment(dice) },
      all: dice.list { Shapes.Payment(dice) },
      byName: dice.map { (dice.text(), Shapes.Payment(dice)) })
  }
}

extension Shapes.Inner {
  init(_ dice: Dice) {
    self.init(
      point: Shapes.Point(dice), note: dice.optional(dice.text),
      corners: dice.list { Shapes.Point(dice) })
  }
}

extension Shapes.Outer {
  init(_ dice: Dice) {
    self.init(
      inner: Shapes.Inner(dice), other: dice.optional { Shapes.Inner(dice) },
      all: dice.list { Shapes.Inner(dice) },
      byName: dice.map { (dice.text(), Shapes.Inner(dice)) })
  }
}

extension Shapes.Renamed {
  init(_ dice: Dice) {
    self.init(id: dice.int(), name: dice.text(), length: dice.double(), größe: dice.int())
  }
}

extension Shapes.Transients { init(_ dice: Dice) { self.init(id: dice.int(), name: dice.text()) } }

extension Shapes.Constants {
  init(_ dice: Dice) { self.init(id: dice.int(), name: dice.optional(dice.text)) }
}

extension Shapes.Defaults {
  init(_ dice: Dice) {
    self.init(
      count: dice.int(), name: dice.text(), ratio: dice.double(), tags: dice.list(dice.text),
      level: dice.one())
  }
}

extension Shapes.One { init(_ dice: Dice) { self.init(value: dice.bool()) } }

extension Shapes.Words {
  init(_ dice: Dice) {
    self.init(default: dice.int(), class: dice.optional(dice.text), self: dice.bool())
  }
}

extension Shapes.Observed { init(_ dice: Dice) { self.init(value: dice.int()) } }

extension Shapes.Several {
  init(_ dice: Dice) { self.init(a: dice.int(), b: dice.int(), c: dice.text()) }
}

extension Shapes.Aliased {
  init(_ dice: Dice) {
    self.init(
      price: dice.int(), other: dice.optional { dice.int() }, prices: dice.list { dice.int() })
  }
}

extension Shapes.Many {
  init(_ d: Dice) {
    (a1, a2, a3, a4) = (d.int(), d.text(), d.bool(), d.double())
    (b1, b2, b3, b4) = (d.int(), d.text(), d.bool(), d.double())
    (c1, c2, c3, c4) = (d.int(), d.text(), d.bool(), d.double())
    (a5, a6) = (d.optional { d.int() }, d.optional(d.text))
    (b5, b6) = (d.optional { d.int() }, d.optional(d.text))
    (c5, c6) = (d.optional { d.int() }, d.optional(d.text))
    (a7, a8) = (d.optional(d.bool), d.optional(d.double))
    (b7, b8) = (d.optional(d.bool), d.optional(d.double))
    (c7, c8) = (d.optional(d.bool), d.optional(d.double))
  }
}

extension Shapes.Writer {
  init(_ dice: Dice) {
    self.init(id: dice.below(9), name: dice.text(), home: dice.optional { Shapes.Point(dice) })
  }
}

extension Shapes.Sheet {
  init(_ dice: Dice) {
    self.init(
      shelf: dice.text(), number: dice.int(), writer: Shapes.Writer(dice),
      editor: dice.optional { Shapes.Writer(dice) })
  }
}

extension Shapes.Folder {
  init(_ dice: Dice) {
    self.init(
      id: dice.uuid(), sheets: dice.list { Shapes.Sheet(dice) },
      byName: dice.map { (dice.text(), Shapes.Writer(dice)) },
      optional: dice.optional { dice.list { Shapes.Writer(dice) } })
  }
}

extension Shapes.Holder {
  init(_ dice: Dice) {
    self.init(writer: Shapes.Writer(dice), others: dice.list { Shapes.Writer(dice) })
  }
}

extension Shapes.Cover {
  init(_ dice: Dice) {
    self.init(
      key: Shapes.Sheet.key("a", dice.int()), holder: Shapes.Holder(dice),
      next: dice.optional { Key(rawValue: dice.text()) },
      seen: dice.list { Shapes.Writer.key(dice.int()) },
      counts: dice.map { (Shapes.Writer.key(dice.int()), dice.int()) })
  }
}

extension Shapes.Versioned {
  init(_ dice: Dice) {
    self.init(level: dice.one(), name: dice.text(), note: dice.optional(dice.text))
  }
}
