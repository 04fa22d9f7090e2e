import Foundation
import PandoModels
import Testing

@testable import PandoRecords

/// Facts about a type, found with the first of its models whose children are listed.
@Suite struct ChildPlacesTests {
  struct Leaf: Model, Codable, Equatable {
    var modelIdentifier: String?
    var number: Int
  }

  struct Plain: Model, Codable, Equatable {
    var modelIdentifier: String?
    var isOpen = true
    var price: Decimal?
    var dates: [Date] = []
    var links: [String: URL] = [:]
    var tags: Set<UUID> = []

    // Says that there is a child where there is no place for one.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode([Leaf(number: 1)])
    }
  }

  struct Absent: Model, Codable, Equatable {
    var modelIdentifier: String?
    var name = ""
    var leaf: Leaf?
    var leaves: [Leaf] = []
  }

  struct Anything: Model, Codable {
    var modelIdentifier: String?
    var content: any Codable & Sendable

    init(_ content: any Codable & Sendable) { self.content = content }

    init(from decoder: any Decoder) throws { self.init("") }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(content)
    }
  }

  struct Inside: Codable, Equatable { var leaf = Leaf(number: 4) }

  struct Around: Model, Codable, Equatable {
    var modelIdentifier: String?
    var inside = Inside()
  }

  @Test func `a model of plain values is not encoded to find its children`() {
    let plain = Plain(modelIdentifier: "plain")
    #expect(children(of: plain) == [])
    #expect(plain.map { _ in nil } == plain)
  }

  @Test func `places that are empty at first are looked at the next time`() {
    #expect(children(of: Absent()) == [])
    let leaf = Leaf(number: 1)
    #expect(children(of: Absent(leaf: leaf)) == [leaf])
    #expect(children(of: Absent(leaves: [leaf, leaf])) == [leaf, leaf])
    #expect(Absent(leaf: leaf).map { _ in nil } == Absent())
  }

  @Test func `a property of any type may hold a plain value at first, and a child later`() {
    #expect(children(of: Anything("text")) == [])
    #expect(children(of: Anything(Leaf(number: 2))) == [Leaf(number: 2)])
  }

  @Test func `children inside values that are no models are found`() {
    #expect(children(of: Around()) == [Leaf(number: 4)])
  }

  private func children(of model: some Model) -> [Leaf] {
    var found: [Leaf] = []
    model.forEach { if let leaf = $0 as? Leaf { found.append(leaf) } }
    return found
  }
}
