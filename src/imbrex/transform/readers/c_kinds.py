"""Kinds of libclang's cursors, each the one object of its kind.

Names of a module are found faster than the attributes of a class of the binding, and far faster
where that is an Enum; whether a kind is an expression is asked once, not of libclang each time.
"""

from __future__ import annotations

from clang.cindex import CursorKind

ARRAY_SUBSCRIPT_EXPR = CursorKind.ARRAY_SUBSCRIPT_EXPR
BINARY_OPERATOR = CursorKind.BINARY_OPERATOR
BREAK_STMT = CursorKind.BREAK_STMT
CALL_EXPR = CursorKind.CALL_EXPR
CASE_STMT = CursorKind.CASE_STMT
CHARACTER_LITERAL = CursorKind.CHARACTER_LITERAL
COMPOUND_ASSIGNMENT_OPERATOR = CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
COMPOUND_STMT = CursorKind.COMPOUND_STMT
CONDITIONAL_OPERATOR = CursorKind.CONDITIONAL_OPERATOR
CONTINUE_STMT = CursorKind.CONTINUE_STMT
CSTYLE_CAST_EXPR = CursorKind.CSTYLE_CAST_EXPR
CXX_FOR_RANGE_STMT = CursorKind.CXX_FOR_RANGE_STMT
CXX_FUNCTIONAL_CAST_EXPR = CursorKind.CXX_FUNCTIONAL_CAST_EXPR
CXX_NEW_EXPR = CursorKind.CXX_NEW_EXPR
CXX_STATIC_CAST_EXPR = CursorKind.CXX_STATIC_CAST_EXPR
CXX_THROW_EXPR = CursorKind.CXX_THROW_EXPR
CXX_UNARY_EXPR = CursorKind.CXX_UNARY_EXPR
DECL_REF_EXPR = CursorKind.DECL_REF_EXPR
DECL_STMT = CursorKind.DECL_STMT
DEFAULT_STMT = CursorKind.DEFAULT_STMT
DO_STMT = CursorKind.DO_STMT
ENUM_CONSTANT_DECL = CursorKind.ENUM_CONSTANT_DECL
FLOATING_LITERAL = CursorKind.FLOATING_LITERAL
FOR_STMT = CursorKind.FOR_STMT
FUNCTION_DECL = CursorKind.FUNCTION_DECL
GOTO_STMT = CursorKind.GOTO_STMT
IF_STMT = CursorKind.IF_STMT
INDIRECT_GOTO_STMT = CursorKind.INDIRECT_GOTO_STMT
INIT_LIST_EXPR = CursorKind.INIT_LIST_EXPR
INTEGER_LITERAL = CursorKind.INTEGER_LITERAL
LABEL_STMT = CursorKind.LABEL_STMT
LAMBDA_EXPR = CursorKind.LAMBDA_EXPR
LINKAGE_SPEC = CursorKind.LINKAGE_SPEC
MEMBER_REF_EXPR = CursorKind.MEMBER_REF_EXPR
NAMESPACE = CursorKind.NAMESPACE
NAMESPACE_REF = CursorKind.NAMESPACE_REF
NULL_STMT = CursorKind.NULL_STMT
PAREN_EXPR = CursorKind.PAREN_EXPR
PARM_DECL = CursorKind.PARM_DECL
RETURN_STMT = CursorKind.RETURN_STMT
STATEMENT_EXPR = CursorKind.StmtExpr
STRING_LITERAL = CursorKind.STRING_LITERAL
SWITCH_STMT = CursorKind.SWITCH_STMT
TYPE_REF = CursorKind.TYPE_REF
UNARY_OPERATOR = CursorKind.UNARY_OPERATOR
UNEXPOSED_DECL = CursorKind.UNEXPOSED_DECL
UNEXPOSED_EXPR = CursorKind.UNEXPOSED_EXPR
UNION_DECL = CursorKind.UNION_DECL
VAR_DECL = CursorKind.VAR_DECL
WHILE_STMT = CursorKind.WHILE_STMT

BY_NUMBER = {kind.value: kind for kind in CursorKind.get_all_kinds()}
DECLARATIONS = frozenset(kind for kind in BY_NUMBER.values() if kind.is_declaration())
EXPRESSIONS = frozenset(kind for kind in BY_NUMBER.values() if kind.is_expression())
STATEMENTS = frozenset(kind for kind in BY_NUMBER.values() if kind.is_statement())
