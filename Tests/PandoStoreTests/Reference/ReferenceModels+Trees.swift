import PandoModels
import Testing

/// A model that can be made from an untyped tree of any of its projections.
protocol TreeMade {
  init(_ tree: TreeNode) throws
}

extension TreeNode {
  func text(_ name: String) throws -> String { try #require(self[name]?.stringValue) }

  func child<Child: TreeMade>(_ name: String) throws -> Child? {
    try self[name]?.nodeValue.map { try Child($0) }
  }

  func children<Child: TreeMade>(_ name: String) throws -> [Child] {
    try (self[name]?.arrayValue ?? []).map { try Child(try #require($0.nodeValue)) }
  }

  func entries<Child: TreeMade>(_ name: String) throws -> [String: Child] {
    // A map that holds no node reads as an object.
    guard case .entries(let entries) = self[name] else { return [:] }
    var children: [String: Child] = [:]
    for (key, value) in entries {
      children[try #require(key.stringValue)] = try Child(try #require(value.nodeValue))
    }
    return children
  }
}

extension TreeValue {
  /// An object without identifier, as the node around it would be read.
  var asNode: TreeNode? { objectValue.map { TreeNode("", type: "", fields: .object($0)) } }
}

extension ImageModel: TreeMade {
  init(_ tree: TreeNode) throws {
    self.init(id: try tree.text("id"), name: try tree.text("name"))
  }
}

extension PersonModel: TreeMade {
  init(_ tree: TreeNode) throws {
    self.init(
      id: try tree.text("id"), name: try tree.text("name"), portrait: try tree.child("portrait"))
  }
}

extension BadgeModel: TreeMade {
  init(_ tree: TreeNode) throws {
    self.init(
      id: try tree.text("id"), name: try tree.text("name"),
      number: tree["number"]?.integerValue.map { Int($0) }, portrait: try tree.child("portrait"))
  }
}

extension CardModel: TreeMade {
  init(_ tree: TreeNode) throws {
    self.init(
      id: try tree.text("id"), cover: try tree.child("cover"),
      extra: tree["extra"]?.integerValue.map { Int($0) }, roles: try tree.entries("roles"),
      title: try tree.text("title"), author: try #require(try tree.child("author")),
      readers: try tree.children("readers"))
  }
}

extension DocModel: TreeMade {
  init(_ tree: TreeNode) throws {
    let legal = try #require(tree["legal"]?.asNode)
    self.init(
      id: try tree.text("id"), next: try tree.children("next"), cover: try tree.child("cover"),
      inner: try tree["inner"]?.asNode.map { inner in
        Inner(boss: try #require(try inner.child("boss")), note: try inner.text("note"))
      },
      legal: Legal(also: try legal.child("also"), seal: try #require(try legal.child("seal"))),
      parts: try (tree["parts"]?.arrayValue ?? []).map { part in
        let part = try #require(part.asNode)
        return Part(who: try #require(try part.child("who")), icon: try part.child("icon"))
      },
      roles: try tree.entries("roles"), title: try tree.text("title"),
      author: try #require(try tree.child("author")), readers: try tree.children("readers"))
  }
}
