"""Results for people: tables, pictures, a page."""
