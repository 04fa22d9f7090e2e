import FoundationEssentials
import PandoManagers
import PandoModels

/// A field whose form in the JSON of a server differs from its coding.
///
/// ```swift
/// extension Book: RemoteEntity {
///   static let wireFields: [WireField<Book>] = [
///     .named(\.publishedOn, "published_on"),             // another name
///     .readOnly(\.createdAt, "created_at"),              // read, never sent
///     .localOnly(\.isFavorite, default: false),          // the server does not have it
///     .named(\.author, "author_id"),                     // an identifier of another entity
///     .within(\.address, [.named(\.code, "zip")], as: "addr"),
///     .each(\.lines, [.named(\.amountDue, "amount_due")]),
///   ]
/// }
/// ```
///
/// Pando translates an answer to the coding of the type before it decodes it. ``APIBody/init(entity:under:)``
/// translates an entity to the form of the server. Stored records, filters and indexes use the coding. If a field has
/// another name in the JSON, Pando ignores a JSON field with its own name.
///
/// The coding key of a field is the name that the type declares in `fields`, or the name of the property. `coded:`
/// gives another one. Names that are not declared here follow the key strategy of the type's encoder and decoder.
///
/// - Note: The translation reads numbers with a fraction or an exponent as doubles, so a `Decimal` of more than 17
///   digits must be a string in the JSON.
/// - Note: A value; any thread.
public struct WireField<Root>: Sendable {
  let rules: [WireRule]
  /// Whether the server does not have it, or a field in it.
  let hasLocal: Bool
  /// Copies the fields that the server does not have from the stored entity.
  let keep: (@Sendable (inout Root, Root) -> Void)?
  /// The value of the field; `nil` if the declaration only leads to other fields.
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

  /// A field that has another name in the JSON, in the same object.
  ///
  /// - Parameters:
  ///   - keyPath: The field; it may lead through objects that are no entities.
  ///   - name: Its name in the JSON.
  ///   - coded: Its coding key, if that is neither declared in `fields` nor the name of the property; a path has dots.
  /// - Returns: The declaration.
  public static func named(
    _ keyPath: any PartialKeyPath<Root> & Sendable, _ name: String, coded: String? = nil
  ) -> WireField { WireField(keyPath, WireRule(name: name), coded) }

  /// A field that is read and never sent, because the server sets it.
  ///
  /// - Parameters:
  ///   - keyPath: The field.
  ///   - name: Its name in the JSON; its coding key unless given.
  ///   - coded: As for ``named(_:_:coded:)``.
  /// - Returns: The declaration.
  public static func readOnly(
    _ keyPath: any PartialKeyPath<Root> & Sendable, _ name: String? = nil, coded: String? = nil
  ) -> WireField { WireField(keyPath, WireRule(name: name, isSent: false), coded) }

  /// A field that the server does not have.
  ///
  /// Pando does not send it, and ignores a value under its name in an answer. An answer leaves the field of a stored
  /// entity unchanged, on disk and in memory. A new entity gets the default.
  ///
  /// - Parameters:
  ///   - keyPath: The field.
  ///   - fallback: The value in a new entity; the type's encoder encodes it.
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

  /// The fields of an object, or of an entity inside this one.
  ///
  /// Fields of an entity inside that the server does not have keep the stored values of that entity.
  ///
  /// - Parameters:
  ///   - keyPath: The object.
  ///   - fields: The declarations of its fields; for an entity its own `wireFields`.
  ///   - name: Its name in the JSON; its coding key unless given.
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
  ///   - fields: The declarations of its fields; for an entity its own `wireFields`.
  ///   - name: Its name in the JSON; its coding key unless given.
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
  /// Only elements that are entities may have fields that the server does not have. Others can't be matched with the
  /// stored elements.
  ///
  /// - Parameters:
  ///   - keyPath: The list.
  ///   - fields: The declarations of an element's fields; for an entity its own `wireFields`.
  ///   - name: Its name in the JSON; its coding key unless given.
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
    // Not for entities inside: another one may be there now, and each keeps its own fields.
    var keep: (@Sendable (inout Root, Root) -> Void)?
    if !keeps.isEmpty, !(Child.self is any Entity.Type) {
      keep = { entity, stored in
        child(&entity, stored) { new, old in for keep in keeps { keep(&new, old) } }
      }
    }
    return WireField(own + inner, hasLocal: fields.contains(where: \.hasLocal), keep: keep)
  }
}

/// The difference between the JSON and the coding of the field at a path of coding keys.
struct WireRule: Sendable {
  var path: [String] = []
  /// Its name in the JSON, if it differs.
  var name: String?
  var isSent = true
  /// Makes its value, whatever an answer contains; `nil` to use the answer's value.
  var fallback: (@Sendable (JSONEncoder) throws -> TreeValue?)?
}
