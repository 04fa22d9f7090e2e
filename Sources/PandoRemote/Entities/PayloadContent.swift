import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRecords
import PandoStore

/// The content of an answer.
///
/// This type and the following ones are classes, because the compiler makes less code for them.
final class PayloadContent<E: Entity> {
  var entities: [E] = []
  /// The entities of other types to store with them.
  var included: [IncludedEntities] = []
  /// Its page, if it describes one.
  var page: AnswerPage?
  /// The errors of skipped elements.
  var malformed: [APIError] = []
  /// The removals and the cursor of an answer to `.changes(since:)`.
  var changes = PayloadChanges<E>()
  /// The error that an answer to `.changes(since:)` has no list of entities.
  var absence: APIError?

  init(_ entities: [E] = []) { self.entities = entities }
}

/// Stores entities of another type than the requested one, as old as an answer.
typealias IncludedEntities = @Sendable (inout ModelTransaction, AnswerPlace) throws -> Void

/// Entities of another type in an answer.
struct PayloadInclusion: Sendable {
  /// Reads them; `nil` if there are none.
  let read: @Sendable (any Decoder) throws -> (IncludedEntities, [DecodingError])?
  /// The names that lead to them.
  let names: [String]
  let typeName: String
  /// Their form in the JSON, if it differs from the coding.
  let form: @Sendable () throws -> WireForm?

  init<Other: PersistentEntity & RemoteEntity>(_ type: Other.Type, _ names: [String]) {
    self.names = names
    typeName = Other.modelTypeName
    form = { try WireForm.of(Other.self) }
    read = { decoder in
      let found = try decoder.optional(PayloadMembers<Other>.self, at: names)
      return found.map { members in
        let entities = members.entities
        return (
          {
            _ = try $0.apply(
              entities, asOf: $1.asOf, isIncluded: true, waitingSince: $1.waitingSince)
          }, members.malformed
        )
      }
    }
  }
}

/// The form of the values at a path of an answer.
private struct PlacedForm {
  /// The names that lead there.
  let names: [String]
  let form: WireForm
}

extension [PlacedForm] {
  /// Translates an answer to the form that the decoders of the types read.
  fileprivate func received(_ body: Data) throws -> Data {
    if isEmpty { return body }
    let tree = try TreeValue(json: String(decoding: body, as: UTF8.self))
    let changed = reduce(tree) { tree, place in
      tree.changing(at: place.names[...]) { place.form.received($0) }
    }
    return Data(changed.json().utf8)
  }

  /// The names in the JSON of a path of coding keys; `nil` for an index of a list.
  fileprivate func names(along keys: [any CodingKey]) -> [String?] {
    let texts = keys.map { $0.intValue == nil ? $0.stringValue : nil }
    guard let place = first(where: { texts.starts(with: $0.names.map { $0 }) }) else {
      return texts
    }
    let count = place.names.count
    return texts.prefix(count) + place.form.names(along: keys[count...])
  }
}

extension RemoteEntity {
  fileprivate static func wireForm() throws -> WireForm? { try WireForm.of(Self.self) }
}

/// The paths of the values that describe the page of an answer.
struct PageNames: Sendable {
  let total: [String]
  let cursor: [String]
  let next: [String]
}

/// The paths of the removals and the cursor in an answer to `.changes(since:)`.
struct ChangeNames: Sendable {
  let removed: [String]
  let cursor: [String]
  let more: [String]
  let expired: [String]
}

/// The removals and the cursor of an answer to `.changes(since:)`.
struct PayloadChanges<E: Entity> {
  var removed: [EntityIdentifier<E>] = []
  var cursor: String?
  var hasMore = false
  var isExpired = false
  /// The error that the answer has no list of entities.
  var absence: DecodingError?
}

/// The parts of a ``RemotePayload`` that do not depend on the entity type.
private final class PayloadReading: Sendable {
  let names: [String]
  let skipsMalformed: Bool
  let inclusions: [PayloadInclusion]
  let pageNames: PageNames?
  let changeNames: ChangeNames?

  init<E: Entity>(_ payload: RemotePayload<E>) {
    names = payload.names
    skipsMalformed = payload.skipsMalformed
    inclusions = payload.inclusions
    pageNames = payload.pageNames
    changeNames = payload.changeNames
  }

  static var key: CodingUserInfoKey {
    guard let key = CodingUserInfoKey(rawValue: "pando.payload") else {
      preconditionFailure("every text makes a key")
    }
    return key
  }
}

extension RemotePayload {
  /// Reads an answer.
  ///
  /// - Throws: ``APIError`` `malformedAnswer`, which says where.
  func content(
    of response: APIResponse, to request: APIRequest, decoder: JSONDecoder
  ) throws -> PayloadContent<E> {
    guard !response.body.isEmpty else { return PayloadContent() }
    var forms: [PlacedForm] = []
    do {
      if let read { return PayloadContent(try read(response)) }
      forms = try placedForms()
      decoder.userInfo[PayloadReading.key] = PayloadReading(self)
      let found = try decoder.decode(
        PayloadRoot<E>.self, from: try forms.received(response.body))
      let content = PayloadContent(found.members.entities)
      content.included = found.included
      content.page = found.page
      if content.page != nil, content.page?.next == nil {
        content.page?.next = response.headers["Link"].flatMap(LinkField.next)
      }
      content.changes = found.changes
      content.absence = found.changes.absence.map {
        malformed(response, to: request, $0, forms)
      }
      content.malformed = found.members.malformed.map {
        malformed(response, to: request, $0, forms)
      }
      return content
    } catch let error as APIError {
      throw error
    } catch let error as DecodingError {
      throw malformed(response, to: request, error, forms)
    } catch let error as JSONError {
      throw APIError(
        .malformedAnswer, request, "the answer is not JSON: \(error)", status: response.status)
    } catch {
      throw APIError(
        .malformedAnswer, request, "the answer can't be read as \(E.modelTypeName)",
        status: response.status, underlying: error)
    }
  }

  /// The forms of the entities of an answer that differ from the coding, with their paths.
  private func placedForms() throws -> [PlacedForm] {
    var forms = try inclusions.compactMap { inclusion in
      try inclusion.form().map { PlacedForm(names: inclusion.names, form: $0) }
    }
    if let form = try (E.self as? any RemoteEntity.Type)?.wireForm() {
      forms.append(PlacedForm(names: names, form: form))
    }
    return forms
  }

  /// Makes the error that says where an answer has another form than expected.
  private func malformed(
    _ response: APIResponse, to request: APIRequest, _ error: DecodingError, _ forms: [PlacedForm]
  ) -> APIError {
    let reason: String
    do {
      _ = try TreeValue(json: String(decoding: response.body, as: UTF8.self))
      reason = "the answer is no \(name(of: error)): \(error.sentence(forms))"
    } catch {
      reason = "the answer is not JSON: \(error)"
    }
    return APIError(.malformedAnswer, request, reason, status: response.status)
  }

  /// The name of the entity type that could not be decoded.
  private func name(of error: DecodingError) -> String {
    let place = error.place.map { $0.intValue == nil ? $0.stringValue : nil }
    let included = inclusions.first { place.starts(with: $0.names.map { $0 }) }
    return included?.typeName ?? E.modelTypeName
  }
}

/// The root of an answer.
private final class PayloadRoot<E: Entity>: Decodable {
  let members: PayloadMembers<E>
  var included: [IncludedEntities] = []
  var page: AnswerPage?
  var changes = PayloadChanges<E>()

  init(from decoder: any Decoder) throws {
    let reading = decoder.userInfo[PayloadReading.key] as? PayloadReading
    let names = reading?.names ?? []
    if let told = reading?.changeNames {
      // Some servers omit the list if there are only removals.
      let found = try decoder.optional(PayloadMembers<E>.self, at: names)
      members = found ?? PayloadMembers<E>()
      if found == nil {
        do {
          _ = try decoder.required(PayloadMembers<E>.self, at: names)
        } catch let error as DecodingError {
          changes.absence = error
        }
      }
      let removed = try decoder.optional([PayloadTombstone<E>].self, at: told.removed)
      changes.removed = removed?.map(\.id) ?? []
      changes.cursor = try decoder.optional(PageText.self, at: told.cursor)?.text
      changes.hasMore = try decoder.optional(Bool.self, at: told.more) ?? false
      changes.isExpired = try decoder.optional(Bool.self, at: told.expired) ?? false
    } else {
      members = try decoder.required(PayloadMembers<E>.self, at: names)
    }
    for inclusion in reading?.inclusions ?? [] {
      guard let (entities, malformed) = try inclusion.read(decoder) else { continue }
      included.append(entities)
      members.malformed += malformed
    }
    guard let names = reading?.pageNames else { return }
    page = AnswerPage(
      cursor: try? decoder.optional(PageText.self, at: names.cursor)?.text,
      total: try? decoder.optional(Int.self, at: names.total),
      next: try? decoder.optional(PageText.self, at: names.next)?.text)
  }
}

/// An entity or a list of them.
private final class PayloadMembers<E: Entity>: Decodable {
  var entities: [E] = []
  var malformed: [DecodingError] = []

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() { return }
    // Looks for a list first, so that an error is that of the form in the answer.
    guard (try? decoder.unkeyedContainer()) != nil else {
      entities = [try container.decode(E.self)]
      return
    }
    let reading = decoder.userInfo[PayloadReading.key] as? PayloadReading
    guard reading?.skipsMalformed == true else {
      entities = try container.decode([E].self)
      return
    }
    for member in try container.decode([PayloadMember<E>].self) {
      if let entity = member.entity { entities.append(entity) }
      if let error = member.error { malformed.append(error) }
    }
  }
}

/// The identifier of an entity that was removed on the server.
private struct PayloadTombstone<E: Entity>: Decodable {
  let id: EntityIdentifier<E>

  init(from decoder: any Decoder) throws {
    if let fields = try? decoder.row() {
      id = try fields.get("id")
    } else {
      id = try EntityIdentifier(from: decoder)
    }
  }
}

/// An entity, or the error that it can't be decoded.
private final class PayloadMember<E: Entity>: Decodable {
  private(set) var entity: E?
  private(set) var error: DecodingError?

  init(from decoder: any Decoder) throws {
    do {
      entity = try E(from: decoder)
    } catch let error as DecodingError {
      self.error = error
    }
  }
}

/// A cursor or an address; some servers write a cursor as a number.
private struct PageText: Decodable {
  let text: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      text = String(number)
    } else {
      let found = container.decodeNil() ? nil : try container.decode(String.self)
      // Some servers send an empty text if there is none.
      text = found?.isEmpty == true ? nil : found
    }
  }
}

extension Decoder {
  /// Decodes the value at a path of names.
  fileprivate func required<Value: Decodable>(_ type: Value.Type, at names: [String]) throws
    -> Value
  {
    guard let last = names.last else { return try Value(from: self) }
    var container = try container(keyedBy: TextKey.self)
    for name in names.dropLast() {
      container = try container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey(name))
    }
    return try container.decode(Value.self, forKey: TextKey(last))
  }

  /// Decodes the value at a path of names; `nil` if there is no value, or no name.
  fileprivate func optional<Value: Decodable>(
    _ type: Value.Type, at names: [String]
  ) throws -> Value? {
    guard let last = names.last, var container = try? container(keyedBy: TextKey.self) else {
      return nil
    }
    for name in names.dropLast() {
      guard
        let next = try? container.nestedContainer(keyedBy: TextKey.self, forKey: TextKey(name))
      else { return nil }
      container = next
    }
    return try container.decodeIfPresent(Value.self, forKey: TextKey(last))
  }
}

extension DecodingError {
  /// The name that JSON has for the type that a decoder expected.
  private static func word(for type: any Any.Type) -> String {
    switch "\(type)" {
    case "Dictionary<String, Any>": "an object"
    case "Array<Any>": "a list"
    case let name: name
    }
  }

  /// The coding keys that lead to the error.
  fileprivate var place: [any CodingKey] {
    switch self {
    case .keyNotFound(_, let found), .typeMismatch(_, let found), .valueNotFound(_, let found),
      .dataCorrupted(let found):
      found.codingPath
    @unknown default: []
    }
  }

  /// The path in the JSON and the reason, as in `$[3].year: expected a number`.
  fileprivate func sentence(_ forms: [PlacedForm]) -> String {
    let context: Context
    var reason: String
    switch self {
    case .keyNotFound(let key, let found):
      context = found
      let name = forms.names(along: found.codingPath + [key]).last ?? nil
      reason = "there is no \"\(name ?? key.stringValue)\""
    case .typeMismatch(let type, let found):
      context = found
      reason = "expected \(Self.word(for: type))"
    case .valueNotFound(let type, let found):
      context = found
      reason = "expected \(Self.word(for: type)), found null"
    case .dataCorrupted(let found):
      context = found
      reason = found.debugDescription
    @unknown default: return "\(self)"
    }
    while reason.hasSuffix(".") { reason.removeLast() }
    let names = forms.names(along: context.codingPath)
    let place = zip(context.codingPath, names).map { key, name in
      name.map { ".\($0)" } ?? "[\(key.intValue ?? 0)]"
    }
    return "$\(place.joined()): \(reason)"
  }
}
