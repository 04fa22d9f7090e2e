import FoundationEssentials
import PandoModels

/// Where the entities are in an answer, and what is known of them.
public struct RemotePayload<E: Entity>: Sendable {
  /// The names that lead to the entities from the outermost object inward; empty if the content is
  /// an entity or a list of them.
  public var names: [String]
  /// Whether an answer to an unbounded search has all that the server has.
  public var isComplete = true
  /// Whether filter, order and window of the query are applied to the answer here, because the server
  /// was asked for all.
  public var isFilteredHere = false
  /// Whether an element of a list that can't be read is left out, and told; else the whole answer is an
  /// error. An answer without some of its elements is not complete.
  public var skipsMalformed = false
  /// Reads the entities where names are not enough; `nil` to read JSON.
  public var read: (@Sendable (APIResponse) throws -> [E])?

  /// Makes a description of an answer.
  ///
  /// - Parameter names: The names that lead to the entities.
  public init(_ names: [String] = []) { self.names = names }

  /// The whole content: one entity or a list of them.
  public static var content: RemotePayload { RemotePayload() }

  /// Inside an object, as in `{"data": {"books": […]}}`.
  ///
  /// - Parameter names: The names that lead to the entities from the outermost object inward.
  /// - Returns: The description.
  public static func under(_ names: String...) -> RemotePayload { RemotePayload(names) }

  /// The same description, by which elements of a list that can't be read are left out, and told: as
  /// ``ManagerEvent`` `malformedElement`, and in ``RemoteAnswer/malformed``.
  ///
  /// ```swift
  /// static func payload(for path: RemotePath<Book>) -> RemotePayload<Book> {
  ///   .under("books").skippingMalformed
  /// }
  /// ```
  public var skippingMalformed: RemotePayload {
    var payload = self
    payload.skipsMalformed = true
    return payload
  }

  /// Reads an answer in a way of its own.
  ///
  /// - Parameter read: Reads the entities; an empty content is an empty list before it is called.
  /// - Returns: The description.
  public static func reading(
    _ read: @escaping @Sendable (APIResponse) throws -> [E]
  ) -> RemotePayload {
    var payload = RemotePayload()
    payload.read = read
    return payload
  }
}

extension RemotePayload {
  private static var payloadKey: CodingUserInfoKey {
    guard let key = CodingUserInfoKey(rawValue: "pando.payload") else {
      preconditionFailure("every text makes a key")
    }
    return key
  }

  /// Reads the entities of an answer.
  ///
  /// `skipped` takes what is wrong with elements that are left out.
  ///
  /// - Throws: ``APIError`` `malformedAnswer`, which says where.
  func entities(
    in response: APIResponse, to request: APIRequest, decoder: JSONDecoder,
    skipped: (APIError) -> Void = { _ in }
  ) throws -> [E] {
    guard !response.body.isEmpty else { return [] }
    do {
      if let read { return try read(response) }
      decoder.userInfo[Self.payloadKey] = self
      let members = try decoder.decode(Content.self, from: response.body).members
      for error in members.malformed { skipped(Self.malformed(response, to: request, error)) }
      return members.entities
    } catch let error as APIError {
      throw error
    } catch let error as DecodingError {
      throw Self.malformed(response, to: request, error)
    } catch {
      throw APIError(
        .malformedAnswer, request, "the answer can't be read as \(E.modelTypeName)",
        status: response.status, underlying: error)
    }
  }

  /// Says where an answer is not what was expected.
  private static func malformed(
    _ response: APIResponse, to request: APIRequest, _ error: DecodingError
  ) -> APIError {
    let reason: String
    do {
      _ = try TreeValue(json: String(decoding: response.body, as: UTF8.self))
      reason = "the answer is no \(E.modelTypeName): \(error.sentence)"
    } catch {
      reason = "the answer is not JSON: \(error)"
    }
    return APIError(.malformedAnswer, request, reason, status: response.status)
  }

  /// What the decoder reads: it follows the names, then takes an entity or a list of them.
  private struct Content: Decodable {
    var members: Members

    init(from decoder: any Decoder) throws {
      let names = (decoder.userInfo[RemotePayload.payloadKey] as? RemotePayload)?.names ?? []
      guard let first = names.first, let last = names.last else {
        members = try Members(from: decoder)
        return
      }
      var container = try decoder.container(keyedBy: AnyName.self)
      var name = AnyName(stringValue: first)
      for next in names.dropFirst() {
        container = try container.nestedContainer(keyedBy: AnyName.self, forKey: name)
        name = AnyName(stringValue: next)
      }
      name = AnyName(stringValue: last)
      members = try container.decode(Members.self, forKey: name)
    }
  }

  /// An entity or a list of them.
  private struct Members: Decodable {
    var entities: [E] = []
    var malformed: [DecodingError] = []

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() { return }
      // Not by trying: the error must be that of the form that is there.
      guard (try? decoder.unkeyedContainer()) != nil else {
        entities = [try container.decode(E.self)]
        return
      }
      let payload = decoder.userInfo[RemotePayload.payloadKey] as? RemotePayload
      guard payload?.skipsMalformed == true else {
        entities = try container.decode([E].self)
        return
      }
      for member in try container.decode([Member].self) {
        switch member.result {
        case .success(let entity): entities.append(entity)
        case .failure(let error): malformed.append(error)
        }
      }
    }
  }

  /// An entity, or why it is none.
  private struct Member: Decodable {
    let result: Result<E, DecodingError>

    init(from decoder: any Decoder) throws {
      do {
        result = .success(try E(from: decoder))
      } catch let error as DecodingError {
        result = .failure(error)
      }
    }
  }
}

/// A name that is known at run time only.
private struct AnyName: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension DecodingError {
  /// Where in the JSON and what is wrong, as `$[3].year: expected a number`.
  var sentence: String {
    let context: Context
    var reason: String
    switch self {
    case .keyNotFound(let key, let found):
      context = found
      reason = "there is no \"\(key.stringValue)\""
    case .typeMismatch(let type, let found):
      context = found
      reason = "expected \(type)"
    case .valueNotFound(let type, let found):
      context = found
      reason = "expected \(type), found null"
    case .dataCorrupted(let found):
      context = found
      reason = found.debugDescription
    @unknown default: return "\(self)"
    }
    while reason.hasSuffix(".") { reason.removeLast() }
    let place = context.codingPath.map { key in
      key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
    }
    return "$\(place.joined()): \(reason)"
  }
}
