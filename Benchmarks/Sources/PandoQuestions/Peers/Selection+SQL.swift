extension Selection {
  /// The rows of a query, with other columns.
  func sql(_ columns: String) -> String {
    let keys = self.order.map { order in
      ItemField.all[order.field].column + (order.isFolded ? "_folded" : "")
        + (order.isDescending ? " DESC" : "")
    }
    let order = (keys + ["i.place"]).joined(separator: ", ")
    let source = "FROM items i LEFT JOIN people p ON p.id = i.owner WHERE \(condition.sql)"
    var sql = "SELECT \(columns) \(source)"
    if let uniqueBy {
      sql +=
        " AND i.id IN (SELECT id FROM (SELECT i.id AS id, ROW_NUMBER() OVER (PARTITION BY"
        + " \(ItemField.all[uniqueBy].column) ORDER BY i.place) AS u \(source)) WHERE u = 1)"
    }
    sql += " ORDER BY \(order)"
    if limit != nil || offset > 0 { sql += " LIMIT \(limit ?? -1) OFFSET \(offset)" }
    return sql
  }
}
