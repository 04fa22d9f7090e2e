import FoundationEssentials
import PandoManagers
import PandoModels

/// How a field looks in the JSON of a server, where that is not how it is coded here.
///
/// ```swift
/// extension Book: RemoteEntity {
///   static let wireFields: [WireField<Book>] = [
///     .named(\.publishedOn, "published_on"),             // another name
///     .readOnly(\.createdAt, "created_at"),              // read, never sent
///     .localOnly(\.isFavorite, default: false),          // the server does not know it
///     .named(\.author, "author_id"),                     // an identifier of another entity
///     .within(\.address, [.named(\.code, "zip")], as: "addr"),
///     .each(\.lines, [.named(\.amountDue, "amount_due")]),
///   ]
/// }
/// ```
///
/// Answers are read with the names of the server, on their way into the coding of the type, and
/// ``APIBody/init(entity:under:)`` writes them. What is on disk, filters and indexes have nothing to do
/// with it. Where the JSON has a field under its own name though another one is declared, that field is
/// passed over.
///
/// A field is found by its key path: coded under the name that the type declares in `fields`, or that of
/// the property; `coded:` says otherwise. A strategy of the type's encoder and decoder for the names of
/// keys goes on working, for all that is not declared here.
///
/// - Note: In the JSON of such a type, numbers with a fraction or an exponent are doubles on the way: a
///   `Decimal` of more than 17 digits has to be a text there.
/// - Note: A value; any thread.
public struct WireField<Root>: Sendable {
  let rules: [WireRule]
  /// Whether it, or something in it, is not known to the server.
  let hasLocal: Bool
  /// Takes what the server does not know from what is stored.
  let keep: (@Sendable (inout Root, Root) -> Void)?
  /// What the field has; `nil` for what only leads to others.
  let value: (@Sendable (Root) -> Any)?

  private init(
    _ rules: [WireRule], hasLocal: Bool = false,
    keep: (@Sendable (inout Root, Root) -> Void)? = nil, value: (@Sendable (Root) -> Any)? = nil
  ) {
    self.rules = rules
    self.hasLocal = hasLocal
    self.keep = keep
    self.value = value
  }

  private init(
    _ keyPath: any PartialKeyPath<Root> & Sendable, _ rule: WireRule, _ coded: String?
  ) {
    var rule = rule
    rule.path = Self.path(keyPath, coded)
    self.init([rule], value: { $0[keyPath: keyPath] })
  }

  private static func path(_ keyPath: AnyKeyPath, _ coded: String?) -> [String] {
    let declared = (Root.self as? any Queryable.Type)?.declaredName(of: keyPath)
    return (coded ?? declared ?? PropertyNames.along(keyPath, of: Root.self))
      .split(separator: ".").map(String.init)
  }

  /// A field that has another name on the wire, in the object in which it stands.
  ///
  /// - Parameters:
  ///   - keyPath: The field; it may lead through objects that are no entities.
  ///   - name: Its name there.
  ///   - coded: Its coding key, where that is neither declared in `fields` nor the name of the property;
  ///     with dots it leads through objects.
  /// - Returns: The declaration.
  public static func named(
    _ keyPath: any PartialKeyPath<Root> & Sendable, _ name: String, coded: String? = nil
  ) -> WireField { WireField(keyPath, WireRule(name: name), coded) }

  /// A field that is read and never sent, because the server sets it.
  ///
  /// - Parameters:
  ///   - keyPath: The field.
  ///   - name: Its name on the wire; its own unless given.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func readOnly(
    _ keyPath: any PartialKeyPath<Root> & Sendable, _ name: String? = nil, coded: String? = nil
  ) -> WireField { WireField(keyPath, WireRule(name: name, isSent: false), coded) }

  /// A field that the server does not know.
  ///
  /// It is not sent, and what the server sends under its name is not read. An answer about an entity that
  /// is here leaves the field as it is, on disk and in memory, whatever the answer was about; an entity
  /// that is new here gets the default.
  ///
  /// - Parameters:
  ///   - keyPath: The field.
  ///   - fallback: What an entity has that is new here; it is coded as the type's encoder does.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func localOnly<Value: Encodable & Sendable>(
    _ keyPath: any WritableKeyPath<Root, Value> & Sendable, default fallback: Value,
    coded: String? = nil
  ) -> WireField {
    let rule = WireRule(path: path(keyPath, coded), isSent: false) { encoder in
      let json = try encoder.encode([fallback])
      return try TreeValue(json: String(decoding: json, as: UTF8.self))[0]
    }
    return WireField(
      [rule], hasLocal: true, keep: { $0[keyPath: keyPath] = $1[keyPath: keyPath] },
      value: { $0[keyPath: keyPath] })
  }

  /// The fields of an object, or of an entity that is held.
  ///
  /// What the server does not know of a held entity is kept as it is stored of that entity.
  ///
  /// - Parameters:
  ///   - keyPath: The object.
  ///   - fields: How its fields differ; of an entity its own `wireFields`.
  ///   - name: Its name on the wire; its own unless given.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func within<Child>(
    _ keyPath: any WritableKeyPath<Root, Child> & Sendable, _ fields: [WireField<Child>],
    as name: String? = nil, coded: String? = nil
  ) -> WireField {
    leading(keyPath, name, fields, coded) { entity, stored, keep in
      keep(&entity[keyPath: keyPath], stored[keyPath: keyPath])
    }
  }

  /// The fields of an object that may be absent.
  ///
  /// - Parameters:
  ///   - keyPath: The object.
  ///   - fields: How its fields differ; of an entity its own `wireFields`.
  ///   - name: Its name on the wire; its own unless given.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func within<Child>(
    _ keyPath: any WritableKeyPath<Root, Child?> & Sendable, _ fields: [WireField<Child>],
    as name: String? = nil, coded: String? = nil
  ) -> WireField {
    leading(keyPath, name, fields, coded) { entity, stored, keep in
      guard var child = entity[keyPath: keyPath], let old = stored[keyPath: keyPath] else { return }
      keep(&child, old)
      entity[keyPath: keyPath] = child
    }
  }

  /// The fields of each element of a list.
  ///
  /// Only of entities can there be fields that the server does not know: nothing tells which of other
  /// elements is which.
  ///
  /// - Parameters:
  ///   - keyPath: The list.
  ///   - fields: How the fields of an element differ; of an entity its own `wireFields`.
  ///   - name: Its name on the wire; its own unless given.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func each<Element>(
    _ keyPath: any KeyPath<Root, [Element]> & Sendable, _ fields: [WireField<Element>],
    as name: String? = nil, coded: String? = nil
  ) -> WireField {
    precondition(
      Element.self is any Entity.Type || !fields.contains(where: \.hasLocal),
      "\(keyPath): fields of list elements that are no entities can't be known here only")
    return leading(keyPath, name, fields, coded) { _, _, _ in }
  }

  private static func leading<Child>(
    _ keyPath: AnyKeyPath, _ name: String?, _ fields: [WireField<Child>], _ coded: String?,
    _ child:
      @escaping @Sendable (inout Root, Root, @Sendable (inout Child, Child) -> Void) -> Void
  ) -> WireField {
    let path = path(keyPath, coded)
    let own = name.map { [WireRule(path: path, name: $0)] } ?? []
    let inner = fields.flatMap(\.rules).map { rule in
      var rule = rule
      rule.path = path + rule.path
      return rule
    }
    let keeps = fields.compactMap(\.keep)
    // Another entity may stand there by now; each has its own.
    var keep: (@Sendable (inout Root, Root) -> Void)?
    if !keeps.isEmpty, !(Child.self is any Entity.Type) {
      keep = { entity, stored in
        child(&entity, stored) { new, old in for keep in keeps { keep(&new, old) } }
      }
    }
    return WireField(own + inner, hasLocal: fields.contains(where: \.hasLocal), keep: keep)
  }
}

/// How the field at a path of coding keys differs on the wire.
struct WireRule: Sendable {
  var path: [String] = []
  /// Its name there, if it is another one.
  var name: String?
  var isSent = true
  /// Makes what stands for it in an answer; `nil` for what the answer has.
  var fallback: (@Sendable (JSONEncoder) throws -> TreeValue?)?
}
