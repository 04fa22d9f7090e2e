extension Selection {
  /// The rows of a query, with other columns.
  func sql(_ columns: String) -> String {
    let keys = order.map { order in
      ItemField.all[order.field].column + (order.isFolded ? "_folded" : "")
        + (order.isDescending ? " DESC" : "")
    }
    var sql =
      "SELECT \(columns) FROM items i LEFT JOIN people p ON p.id = i.owner WHERE "
      + condition.sql + " ORDER BY " + (keys + ["i.place"]).joined(separator: ", ")
    if limit != nil || offset > 0 { sql += " LIMIT \(limit ?? -1) OFFSET \(offset)" }
    return sql
  }
}
