import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// The form of a type's objects in the JSON of a server, made from its ``WireField`` declarations.
final class WireForm: Sendable {
  private struct Member: Sendable {
    /// The coding key.
    let coded: String
    /// The key that the type's encoder writes.
    let written: String
    /// The key that the type's decoder reads.
    let read: String
    /// Its name in the JSON, if it differs.
    let name: String?
    let isSent: Bool
    /// Its value, whatever an answer contains; `nil` to use the answer's value.
    let fallback: TreeValue?
    let inner: WireForm?
  }

  private let members: [Member]

  private init(_ rules: [WireRule], at path: [String], _ names: KeyNames) throws {
    members = try rules.compactMap(\.path.first).unique.map { coded in
      let path = path + [coded]
      let own = rules.last { $0.path == [coded] }
      let inner = rules.filter { $0.path.count > 1 && $0.path[0] == coded }.map { rule in
        var rule = rule
        rule.path.removeFirst()
        return rule
      }
      return Member(
        coded: coded, written: try names.written(path), read: try names.read(path),
        name: own?.name, isSent: own?.isSent ?? true,
        fallback: try own?.fallback?(names.encoder),
        inner: inner.isEmpty ? nil : try WireForm(inner, at: path, names))
    }
  }

  private static let all = Locked<[ObjectIdentifier: WireForm]>([:])

  /// Returns the form of a type; `nil` if the type declares no fields.
  ///
  /// - Throws: `EncodingError` if the default of a field can't be encoded.
  static func of<E: RemoteEntity>(_ type: E.Type) throws -> WireForm? {
    let fields = E.wireFields
    guard !fields.isEmpty else { return nil }
    if let found = all.withLock({ $0[ObjectIdentifier(type)] }) { return found }
    let names = KeyNames(encoder: E.makeEncoder(), decoder: E.makeDecoder())
    let form = try WireForm(fields.flatMap(\.rules), at: [], names)
    all.withLock { $0[ObjectIdentifier(type)] = form }
    return form
  }

  /// Translates an entity or a list of them to the form that the type's decoder reads.
  func received(_ value: TreeValue) -> TreeValue {
    switch value {
    case .array(let elements): return .array(elements.map(received))
    case .object(let whole):
      var fields = whole
      for member in members {
        fields[member.name ?? member.read] = nil
        fields[member.read] = nil
      }
      for member in members {
        let found = member.fallback ?? whole[member.name ?? member.read]
        if let found { fields[member.read] = member.inner?.received(found) ?? found }
      }
      return .object(fields)
    default: return value
    }
  }

  /// Translates the output of the type's encoder to the form of the server.
  func sent(_ value: TreeValue) -> TreeValue {
    switch value {
    case .array(let elements): return .array(elements.map(sent))
    case .object(let whole):
      var fields = whole
      for member in members { fields[member.written] = nil }
      for member in members where member.isSent {
        guard let found = whole[member.written] else { continue }
        fields[member.name ?? member.written] = member.inner?.sent(found) ?? found
      }
      return .object(fields)
    default: return value
    }
  }

  /// Whether the output of the type's encoder has a value at a path of coding keys.
  func isWritten(_ path: [String], in tree: TreeValue) -> Bool {
    var tree = tree
    var form: WireForm? = self
    for name in path {
      let member = form?.members.first { $0.coded == name }
      guard let next = tree[member?.written ?? name] else { return false }
      tree = next
      form = member?.inner
    }
    return true
  }

  /// The names in the JSON of a path of coding keys; `nil` for an index of a list.
  func names(along keys: ArraySlice<any CodingKey>) -> [String?] {
    var form: WireForm? = self
    return keys.map { key in
      guard key.intValue == nil else { return nil }
      let member = form?.members.first { $0.coded == key.stringValue }
      form = member?.inner
      return member?.name ?? key.stringValue
    }
  }
}

/// The names that encoder and decoder of a type use for coding keys.
private final class KeyNames {
  let encoder: JSONEncoder
  private let decoder: JSONDecoder

  init(encoder: JSONEncoder, decoder: JSONDecoder) {
    self.encoder = encoder
    self.decoder = decoder
  }

  func written(_ path: [String]) throws -> String { try Self.name(path, by: encoder) }

  func read(_ path: [String]) throws -> String {
    switch decoder.keyDecodingStrategy {
    case .useDefaultKeys: return path.last ?? ""
    case .convertFromSnakeCase:
      let encoder = JSONEncoder()
      encoder.keyEncodingStrategy = .convertToSnakeCase
      return try Self.name(path, by: encoder)
    default: return try written(path)
    }
  }

  private static func name(_ path: [String], by encoder: JSONEncoder) throws -> String {
    let last = path.last ?? ""
    if case .useDefaultKeys = encoder.keyEncodingStrategy { return last }
    let json = try encoder.encode(KeyProbe(path: path))
    var tree = try TreeValue(json: String(decoding: json, as: UTF8.self))
    var name = last
    while let (key, value) = tree.objectValue?.first {
      name = key
      tree = value
    }
    return name
  }
}

/// Nested objects with one key each.
private struct KeyProbe: Encodable {
  let path: [String]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: TextKey.self)
    for name in path.dropLast() {
      container = container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey(name))
    }
    try container.encode(true, forKey: TextKey(path.last ?? ""))
  }
}

extension TreeValue {
  /// Returns this value with a change at a path of names, if there is such a path.
  func changing(at names: ArraySlice<String>, _ change: (TreeValue) -> TreeValue) -> TreeValue {
    guard let name = names.first else { return change(self) }
    guard case .object(var fields) = self, let inner = fields[name] else { return self }
    fields[name] = inner.changing(at: names.dropFirst(), change)
    return .object(fields)
  }

  /// Whether it contains a text as a value or a name.
  fileprivate func holds(_ text: String) -> Bool {
    switch self {
    case .string(let string): string.hasSameBytes(as: text)
    case .array(let elements): elements.contains { $0.holds(text) }
    case .object(let fields):
      fields.contains { $0.key.hasSameBytes(as: text) || $0.value.holds(text) }
    default: false
    }
  }
}

extension APIBody {
  /// Encodes an entity in the form of its server: by ``RemoteEntity/makeEncoder()`` and ``RemoteEntity/wireFields``.
  ///
  /// ```swift
  /// case .create(let book): APIRequest(.post, "/v2/books", body: try APIBody(entity: book, under: "book"))
  /// ```
  /// - Parameters:
  ///   - entity: The entity.
  ///   - names: The names of the objects around it, from the outermost inward.
  /// - Throws: `EncodingError`, also if a declared field is not coded under its name.
  public init<E: RemoteEntity>(entity: E, under names: String...) throws {
    try self.init(json: entity, encoder: E.makeEncoder())
    if let form = try WireForm.of(E.self) {
      let tree = try TreeValue(json: String(decoding: bytes, as: UTF8.self))
      try Self.checkNames(entity, form, tree)
      let sent = form.sent(tree)
      bytes = Data(sent.json().utf8)
      // The server need not have an entity that only a field names which is not sent.
      localIdentifiers.removeAll { !sent.holds(IdentifierAlias.localText(of: $0)) }
    }
    for name in names.reversed() {
      bytes = Data("{\(TreeValue.string(name).json()):".utf8) + bytes + Data("}".utf8)
    }
  }

  /// Throws if a declared field is not coded under its name, because it would be sent as it is.
  private static func checkNames<E: RemoteEntity>(
    _ entity: E, _ form: WireForm, _ tree: TreeValue
  ) throws {
    for field in E.wireFields {
      guard let value = field.value?(entity), let path = field.rules.first?.path else { continue }
      let mirror = Mirror(reflecting: value)
      let mayBeAbsent = mirror.displayStyle == .optional || mirror.displayStyle == .enum
      if mayBeAbsent && mirror.children.isEmpty || form.isWritten(path, in: tree) { continue }
      let name = path.joined(separator: ".")
      throw EncodingError.invalidValue(
        entity,
        .init(
          codingPath: [],
          debugDescription:
            "wireFields of \(E.modelTypeName) name \(name), and the coding writes no "
            + "such field; give its coding key"))
    }
  }
}
