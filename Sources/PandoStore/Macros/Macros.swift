#if PANDO_MACROS
  import PandoModels
  import PandoRecords

  /// Declares a struct as a model.
  ///
  /// ```swift
  /// @Model("Product", unique: [\.tenant, \.sku], indexed: [\.tenant, \.category, \.price])
  /// struct Product {
  ///   @Key var tenant: String
  ///   @Key var id: UUID
  ///   var sku: String
  ///   @Renamed(from: "name") var title: String
  ///   @Indexed var category: String
  ///   var price: Int
  ///   var pictures: [Picture] = []
  /// }
  /// let product = try snapshot[Product.key("acme", id)]
  /// ```
  ///
  /// The macro generates the identifier, `key(…)`, the declared fields of all stored properties that
  /// filters can compare, the indexes, the deletion rules, the defaults and former names, and the
  /// coding of records (`FieldCodable`). Records have the bytes of synthesized `Codable`, so a type may
  /// adopt the macro, or drop it, at any time. A member that the type declares itself is not generated;
  /// with a coding of its own, only `@Indexed` fields are declared. An `==` or a `<` of its own counts only in
  /// an extension that names the protocol, as `extension Product: Equatable`.
  ///
  /// A type whose `id` is an `EntityIdentifier` is an entity, and needs no `@Key`. It names its protocols,
  /// such as `PersistentEntity`. The macro also generates `withIdentifier(_:)`, the `relationships` of
  /// properties with identifiers of other entities, and with `of:` the namespace and the type of the
  /// server's keys.
  ///
  /// The default of a property is also the value for records that lack the field, except `UUID()`,
  /// `Date()`, `.now` and random values.
  ///
  /// - Parameters:
  ///   - name: The name under which a store keeps models of the type; that of the struct by default.
  ///   - key: The key of the one model of a type without `@Key`, such as settings:
  ///     `@Model(key: "main") struct Settings` has the identifier `Settings:main`, and `Settings.key` is its
  ///     key.
  ///   - unique: Properties whose values, together, no two models may share; several lists are
  ///     several indexes. See `FieldIndex.unique`.
  ///   - indexed: Properties of an index, the most important first.
  ///   - sums: Numbers whose sums the indexes of `indexed` keep for any range; `[]` keeps only how many
  ///     models a range has. See `FieldIndex.indexed`.
  @attached(
    member, names: named(modelTypeName), named(modelIdentifier), named(key), named(fields),
    named(indexes), named(deletionRules), named(fieldDefaults), named(formerFieldNames),
    named(CodingKeys), named(RemoteID), named(identifierNamespace), named(nodeNamespace),
    named(withIdentifier), named(relationships))
  @attached(
    extension,
    conformances: Model, KeyedModel, Codable, Equatable, Queryable, FieldCodable, DeletionRuled,
    names: named(init(fields:)), named(write(to:)))
  public macro Model(
    _ name: StaticString? = nil, key: StaticString? = nil,
    unique: [PartialKeyPath<DeclaredProperties>]...,
    indexed: [PartialKeyPath<DeclaredProperties>]...,
    sums: [PartialKeyPath<DeclaredProperties>]? = nil
  ) = #externalMacro(module: "PandoMacros", type: "ModelMacro")

  /// Declares a struct as a model that represents the nodes of another one, with fields of its own.
  ///
  /// ```swift
  /// @Model(of: Book.self) struct BookCard {
  ///   @Key var id: Int
  ///   var title: String
  /// }
  /// BookCard.key(7)  // "Book:7"
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name under which a store keeps models of the type; that of the struct by default.
  ///   - node: The other type; the properties of its key have the same types.
  ///   - unique: As in ``Model(_:key:unique:indexed:sums:)``.
  ///   - indexed: As in ``Model(_:key:unique:indexed:sums:)``.
  ///   - sums: As in ``Model(_:key:unique:indexed:sums:)``.
  @attached(
    member, names: named(modelTypeName), named(modelIdentifier), named(key), named(fields),
    named(indexes), named(deletionRules), named(fieldDefaults), named(formerFieldNames),
    named(CodingKeys), named(RemoteID), named(identifierNamespace), named(nodeNamespace),
    named(withIdentifier), named(relationships))
  @attached(
    extension,
    conformances: Model, KeyedModel, Codable, Equatable, Queryable, FieldCodable, DeletionRuled,
    names: named(init(fields:)), named(write(to:)))
  public macro Model<Node>(
    _ name: StaticString? = nil, of node: Node.Type,
    unique: [PartialKeyPath<DeclaredProperties>]...,
    indexed: [PartialKeyPath<DeclaredProperties>]...,
    sums: [PartialKeyPath<DeclaredProperties>]? = nil
  ) = #externalMacro(module: "PandoMacros", type: "ModelMacro")

  /// Declares a value inside a model: a struct or an enum.
  ///
  /// ```swift
  /// @Embedded struct Address {
  ///   var street: String
  ///   var city: String
  /// }
  /// @Embedded enum Status: String { case placed, shipped }
  /// @Embedded enum Payment {
  ///   case open
  ///   case paid(at: Date, reference: String)
  /// }
  /// let found = Query(filter: \Order.payment.paid?.reference == "R-17" && \Order.address.city == "Ulm")
  /// ```
  ///
  /// The macro generates the declared fields and the coding of records. An enum with raw values is
  /// compared by them, and an enum without any values by the names of its cases. Of another enum, the
  /// macro declares the values of each case as an optional property.
  ///
  /// Filters reach the elements of a list, and the properties of its embedded elements
  /// (`lines[].product`). A list inside such an element is no field: give the model a list of its own,
  /// or make the elements models.
  @attached(
    member, names: named(embeddedFields), named(fieldDefaults), named(formerFieldNames),
    named(CodingKeys), arbitrary)
  @attached(
    extension,
    conformances: Codable, Equatable, Embedded, FieldCodable, QueryRepresentable, KeyPart,
    CaseNamed, names: named(init(fields:)), named(write(to:)))
  public macro Embedded() = #externalMacro(module: "PandoMacros", type: "EmbeddedMacro")

  /// Marks a property of the key; the keys of several properties are joined in their order.
  ///
  /// `Person:12` is the identifier of a `Person` whose key is 12. With several properties `/`, `%` and
  /// control characters in them are escaped: see ``KeyedModel``.
  @attached(peer)
  public macro Key() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks a property with an index: of a list, each element has a row; of an embedded value, each of
  /// its fields has an index.
  @attached(peer)
  public macro Indexed() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks a property whose value no two models may share; null values are not compared.
  @attached(peer)
  public macro Unique() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks a text, or a list of texts, whose words are searched for.
  ///
  /// ```swift
  /// @Model struct Tea {
  ///   @Key var id: Int
  ///   @Searchable var title: String
  ///   @Searchable var details: String
  /// }
  /// let found = Query<Tea>(filter: .search("red chai"), order: [.relevance], limit: 20)
  /// ```
  /// All such properties of a type have one index of words: see `FieldIndex.text(_:)`.
  @attached(peer)
  public macro Searchable() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Gives the former names of a property, under which older records have it.
  ///
  /// - Parameter names: The names, the newest first.
  @attached(peer)
  public macro Renamed(from names: StaticString...) =
    #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks a child that can't be deleted while a model has it: see `DeletionRule`.
  @attached(peer)
  public macro Restrict() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks children that are deleted with their model: see `DeletionRule`.
  @attached(peer)
  public macro Owned() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// Marks a property that is not stored; it needs a default.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "PandoMacros", type: "MarkerMacro")

  /// The properties that the arguments of ``Model(_:key:unique:indexed:sums:)`` name.
  ///
  /// ```swift
  /// @Model(unique: [\.email]) struct Account {
  ///   @Key var id: Int
  ///   var email: String
  /// }
  /// ```
  ///
  /// The type lets a key path be written without its root; the macro checks the names. No value of it
  /// is used at run time.
  ///
  /// - Note: Any thread.
  @dynamicMemberLookup
  public enum DeclaredProperties {
    case any

    /// Stands for a property.
    public subscript(dynamicMember name: String) -> DeclaredProperties { self }

    /// Stands for an optional property, as in `\.payment.paid?.reference`.
    @_disfavoredOverload
    public subscript(dynamicMember name: String) -> DeclaredProperties? { self }
  }
#endif
