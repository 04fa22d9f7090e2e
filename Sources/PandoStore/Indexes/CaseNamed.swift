public import PandoModels

/// An enum without values, which `Codable` writes as the name of its case; `@Embedded` makes an enum one.
///
/// ```swift
/// @Embedded enum Kind { case bug, wish }
/// @Model struct Issue {
///   @Key var id: Int
///   @Indexed var kind: Kind
/// }
/// let bugs = Query(filter: \Issue.kind == .bug)
/// ```
/// Filters, orders and indexes compare the names. An enum with raw values is compared by them, and needs
/// no such conformance. Without the macro, an enum also conforms to `QueryRepresentable`.
public protocol CaseNamed: KeyPart, SendableMetatype {
  /// The name of the case, as it is coded.
  var caseName: String { get }

  /// Makes the case of a name.
  ///
  /// - Parameter caseName: A name; `nil` is returned if no case has it.
  init?(caseName: String)
}

extension CaseNamed {
  /// The name of the case.
  public var keyText: String { caseName }
}
